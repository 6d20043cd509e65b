/**
 * Runs an author's server: reads settings, listens, stops gracefully. `runServer` is all a
 * `main.ts` calls. stdout carries only JSON lines, the first of them with `url`; text for a reader
 * goes to stderr, except for the operator's commands.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "@oauth-broker/oauth-core";
import {
  createLog,
  explainStartFailure,
  listen,
  type Listening,
  type Log,
  runService,
} from "@oauth-broker/oauth-core/service";
import { createApp, type McpApp } from "./app.ts";
import { runCommand } from "./cli/run-command.ts";
import { systemClock } from "./clock.ts";
import { loadSettings } from "./config.ts";
import { requireSignIn } from "./hosted/sessions/sign-in-source.ts";
import type { ServerDefinition } from "./server.ts";
import type { Settings } from "./settings.ts";
import { openStorage } from "./storage.ts";

export interface Running {
  /** The URL it listens on: `DEPLOYMENT_URL`, or host and port. */
  readonly url: string;
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
    if (args.length > 0) process.exitCode = await runCommand(args);
    else await serve(definition, say);
  } catch (error) {
    say(explainStartFailure(error, "The server"));
    process.exitCode = 1;
  }
}

async function serve(definition: ServerDefinition, say: (text: string) => void): Promise<void> {
  const log = createLog();
  const { url } = await runService(() => startServer(definition, loadSettings(), { log }), log);
  say(`${definition.title ?? definition.name} listens at ${url}/mcp`);
}

export interface StartOptions {
  readonly log: Log;
  readonly now?: Clock;
}

/**
 * @throws Error with `code` EADDRINUSE and the like; TokenStoreError for a store or key that may
 *   not be used; ConfigError as createApp; with `VENDORS` as requireSignIn
 */
export async function startServer(
  definition: ServerDefinition,
  settings: Settings,
  { log, now = systemClock }: StartOptions,
): Promise<Running> {
  const storage = settings.mode === "hosted" ? await openStorage({ now, log }) : undefined;
  let server: McpApp | undefined;
  let listening: Listening;
  try {
    server = createApp(definition, settings, { now, log, storage });
    if (settings.mode === "hosted" && storage !== undefined) await requireSignIn(settings, storage);
    listening = await listen(server.app, settings.listen);
  } catch (error) {
    await server?.close();
    await storage?.close();
    throw error;
  }
  const { host } = settings.listen;
  const url = settings.deploymentUrl ?? `http://${host.includes(":") ? `[${host}]` : host}:${listening.port}`;
  log.info("listening", { url, pid: process.pid, mode: settings.mode, vendor: settings.vendor.vendor.id });
  for (const warning of settings.warnings) log.warn("configuration_warning", { warning });
  log.flush();
  // Requests the vendor's metadata if it has any, so it is not awaited.
  void server.lateWarning().then((warning) => warning !== undefined && log.warn("configuration_warning", { warning }));
  return {
    url,
    stop: async () => {
      server.drain();
      await listening.stop(settings.deploymentUrl?.startsWith("https:") === true ? GRACE_MS : 0);
      // Refreshes under way are awaited: the response of a vendor that rotates must not be lost.
      await storage?.close();
      await Promise.race([server.close(), sleep(CLOSE_MS, undefined, { ref: false })]);
    },
  };
}
