/**
 * Runs an author's server: reads settings, listens, stops gracefully. `runServer` is all a
 * `main.ts` calls. stdout carries only JSON lines, the first of them with `url`; text for a reader
 * goes to stderr, except for the operator's commands.
 */
import { Console } from "node:console";
import { setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";
import { type Clock, defined, systemClock } from "@oauth-broker/oauth-core";
import { createCidrMatcher } from "@oauth-broker/oauth-core/egress";
import {
  createLog,
  errorFields,
  explainStartFailure,
  type HttpTimeouts,
  listen,
  type Listening,
  type Log,
  runService,
  toolOfContext,
} from "@oauth-broker/service";
import { startTracing } from "@oauth-broker/service/tracing";
import { createMetricsApp, openServer, type OpenServer } from "./app.ts";
import { runCommand } from "./cli/run-command.ts";
import { type Environment, isUnderDev, loadSettings } from "./config.ts";
import type { ShowToAuthor } from "./mcp/run-tool.ts";
import type { ServerMetrics } from "./mcp/metrics.ts";
import type { ServerDefinition } from "./server.ts";
import type { Settings } from "./settings.ts";

export interface Running {
  /** The URL it listens on: `DEPLOYMENT_URL`, or host and port. */
  readonly url: string;
  /** Where `/metrics` is, with `METRICS_PORT`. */
  readonly metricsUrl: string | undefined;
  /** With `METRICS_PORT` it also counts the calls of tools that are logged in it. */
  readonly log: Log;
  stop(): Promise<void>;
}

/** How long load balancers have to notice that /readyz fails. */
const GRACE_MS = 2_000;
const CLOSE_MS = 2_000;

/**
 * Serves, or runs the operator's command in the arguments, and sets the exit code. Does not throw:
 * problems are printed on stderr.
 *
 * @param args default: those of the process
 */
export async function runServer(
  definition: ServerDefinition,
  args: readonly string[] = process.argv.slice(2),
): Promise<void> {
  const say = (text: string): void => void process.stderr.write(`${text}\n`);
  try {
    if (args.length > 0) process.exitCode = await runCommand(args, undefined, definition.version);
    else {
      // What a tool or a library of its author prints is text for a reader too.
      // oxlint-disable-next-line no-restricted-globals -- theirs, not ours
      globalThis.console = new Console(process.stderr);
      await serve(definition, say);
    }
  } catch (error) {
    say(explainStartFailure(error, "The server"));
    process.exitCode = 1;
  }
}

async function serve(definition: ServerDefinition, say: (text: string) => void): Promise<void> {
  const log = createLog();
  const showToAuthor = isUnderDev() ? errorsTo(say) : undefined;
  let running: Running | undefined;
  const { url } = await runService(
    async () =>
      (running = await startServer(definition, loadSettings(undefined, definition.tools), { log, showToAuthor })),
    log,
    (reason) => isOfTool(reason, { log: running?.log ?? log, showToAuthor }),
  );
  say(`${definition.title ?? definition.name} listens at ${url}/mcp`);
}

/**
 * A rejection that no code awaits. One author's slip does not end the server for all users; outside
 * of tools it is our bug, after which the process does not go on.
 */
function isOfTool(reason: unknown, { log, showToAuthor }: StartOptions): boolean {
  const tool = toolOfContext();
  if (tool === undefined) return false;
  log.error("tool_rejection", { ...errorFields(reason), tool, reason: "tool_failed" });
  showToAuthor?.(tool, reason);
  return true;
}

function errorsTo(say: (text: string) => void): ShowToAuthor {
  return (tool, error) => say(`The tool ${tool} failed:\n${inspect(error)}`);
}

export interface StartOptions {
  readonly log: Log;
  readonly now?: Clock;
  readonly showToAuthor?: ShowToAuthor | undefined;
  /** Where the store's settings are; default: that of the process. */
  readonly environment?: Environment;
  /** Others than those of production. */
  readonly timeouts?: Partial<HttpTimeouts>;
}

/**
 * @throws Error with `code` EADDRINUSE and the like; as openServer
 */
export async function startServer(
  definition: ServerDefinition,
  settings: Settings,
  { log, now = systemClock, showToAuthor, environment, timeouts }: StartOptions,
): Promise<Running> {
  const tracing = await startTracing(settings.tracing, "mcp-server", log);
  const metrics = await openMetrics(definition, settings);
  let server: OpenServer | undefined;
  let listening: Listening | undefined;
  let scraped: Listening | undefined;
  try {
    server = await openServer(definition, settings, { now, log, showToAuthor, ...defined({ metrics, environment }) });
    const isTrustedProxy = createCidrMatcher(settings.limits.trustedProxies);
    listening = await listen(server.app, { ...settings.listen, isTrustedProxy }, timeouts);
    scraped = metrics && (await listenForMetrics(metrics, settings, log));
  } catch (error) {
    await listening?.stop(0);
    await server?.close();
    await server?.storage?.close();
    await tracing?.stop();
    throw error;
  }
  const { storage, warnings } = server;
  const { host } = settings.listen;
  const url = settings.deploymentUrl ?? `http://${host.includes(":") ? `[${host}]` : host}:${listening.port}`;
  log.info("listening", { url, pid: process.pid, mode: settings.mode, vendor: settings.vendor.vendor.id });
  const metricsUrl = scraped && `http://${METRICS_HOST}:${scraped.port}/metrics`;
  if (metricsUrl !== undefined) log.info("metrics_listening", { metricsUrl });
  for (const warning of warnings) log.warn("configuration_warning", { warning });
  log.flush();
  // Requests the vendor's metadata if it has any, so it is not awaited.
  void server.lateWarning().then((warning) => warning !== undefined && log.warn("configuration_warning", { warning }));
  return {
    url,
    metricsUrl,
    log: metrics?.countCalls(log) ?? log,
    stop: async () => {
      const graceMs = settings.deploymentUrl?.startsWith("https:") === true ? GRACE_MS : 0;
      server.drain(graceMs);
      await listening.stop(graceMs);
      const ended = server.cutCalls();
      // Refreshes under way are awaited: the response of a vendor that rotates must not be lost.
      await storage?.close();
      await scraped?.stop(0);
      await Promise.race([
        Promise.all([ended, server.close(), tracing?.stop()]),
        sleep(CLOSE_MS, undefined, { ref: false }),
      ]);
    },
  };
}

/** Metrics name no user and hold no secret, and are still no one's but the operator's. */
const METRICS_HOST = "127.0.0.1";

async function openMetrics(definition: ServerDefinition, settings: Settings): Promise<ServerMetrics | undefined> {
  if (settings.metricsPort === undefined) return undefined;
  const { createServerMetrics } = await import("./mcp/metrics.ts");
  return createServerMetrics(definition, settings);
}

async function listenForMetrics(metrics: ServerMetrics, { metricsPort = 0 }: Settings, log: Log): Promise<Listening> {
  const at = { host: METRICS_HOST, port: metricsPort };
  return listen(createMetricsApp(metrics, at, log), at).catch((cause: NodeJS.ErrnoException) => {
    const message = explainStartFailure(cause, "The server", "METRICS_PORT=9465");
    throw Object.assign(new Error(message, { cause }), { code: cause.code });
  });
}
