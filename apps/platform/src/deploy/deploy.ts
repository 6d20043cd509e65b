/**
 * One deploy: starts the server, puts the ingress in front of it, runs the connection test, and
 * writes the connector's state together with the deployment, in one write at the end. Until then
 * only the address it claimed has changed. Before it: commands/run.ts. After it: commands/run.ts
 * again, which keeps the server running and calls `stop`.
 */
import { type Fetch, OAuthError } from "@oauth-broker/oauth-core";
import { splitList } from "@oauth-broker/service/configuration";
import { listen, type Listening, type Log } from "@oauth-broker/service";
import { systemVariables } from "../config.ts";
import type { Connector } from "../connectors/connector.ts";
import type { Upstream } from "../ingress/authenticate.ts";
import { callbackWarning, redirectUriOf } from "../oauth/redirect-uri.ts";
import { createIngress, freePort } from "../routes/ingress.ts";
import type { Storage } from "../storage.ts";
import type { Check } from "./connection-test/check.ts";
import { type CommandContext, logFileOf, type Project } from "./commands/context.ts";
import { type ConnectionTest, testConnection } from "./connection-test/connection-test.ts";
import { type Keeper, startServerProcess } from "./server-process/process.ts";
import type { ServiceFile } from "./service-file/service-file.ts";
import { commandPath, serverEnvironment, startCommand } from "./server-process/launch.ts";
import { keepTableMode, provideTable, type Table } from "./table.ts";

export interface DeployDeps extends CommandContext {
  readonly log: Log;
  readonly fetch: Fetch;
  readonly keeper: Keeper;
  /** Settles at a signal to stop: the connector is not changed any more. */
  readonly stopped: Promise<void>;
  /** Fires then. */
  readonly signal: AbortSignal;
}

export type Deployed = Awaited<ReturnType<typeof deploy>>;

/**
 * @throws Error for the operator: no such connector, nothing to start, a server that does not
 *   start, a port that is taken
 */
export async function deploy({ folder, service }: Project, deps: DeployDeps) {
  const { storage, config, environment } = deps;
  const { platformUrl } = config;
  const onStep = (step: string): void => deps.say(`• ${step}`);
  const connector = await storage.connectors.find(service.name);
  if (connector === undefined)
    throw new Error(`There is no connector ${service.name} in ${config.dataDir} yet. Run deploy init first.`);
  const warning = callbackWarning(connector, platformUrl);
  if (warning !== undefined) onStep(`Warning: ${warning}`);
  const command = startCommand(folder);
  const opened: (() => Promise<void>)[] = [];
  /** Stops the server, its ingress and its table. */
  const stop = async (): Promise<void> => {
    for (const close of opened.splice(0).toReversed()) {
      // In the reverse order of their start, so that nothing loses what it still uses.
      await close();
    }
  };
  try {
    const table = service.enableDb ? await provideTable(service, storage) : undefined;
    if (table !== undefined) {
      opened.push(table.close);
      onStep(`Table ${table.name}, ${table.mode}`);
    }
    const deploymentUrl = await claimUrl(connector, storage);
    const port = await freePort();
    onStep(`Starting ${service.name}: ${command}`);
    const own = serverEnvironment(service, {
      deploymentUrl,
      callbackUrl: redirectUriOf(connector, platformUrl),
      port,
      table,
      system: { ...systemVariables(environment), PATH: commandPath(folder, environment["PATH"]) },
    });
    const logFile = logFileOf(config, service.name);
    const server = await startServerProcess({ command, folder, environment: own, logFile }, deps);
    opened.push(server.stop);
    const upstream = await upstreamOf(service, deploymentUrl, port, storage);
    const ingress = await openIngress(upstream, deps);
    opened.push(() => ingress.stop(0));
    onStep(`Testing ${deploymentUrl}/mcp`);
    const test = await testOf(connector, upstream, deps);
    deps.signal.throwIfAborted();
    const settled = await settle(connector, test, { service, upstream, pid: server.pid, table }, deps);
    return { connector: settled, test, ended: server.ended, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Passed: active. Client missing: the state stays, and the deploy is kept. Otherwise nothing
 * changes.
 */
async function settle(
  connector: Connector,
  { outcome }: ConnectionTest,
  started: { service: ServiceFile; upstream: Upstream; pid: number; table: Table | undefined },
  { storage, now }: Pick<DeployDeps, "storage" | "now">,
): Promise<Connector> {
  const isKept = outcome === "passed" || (outcome === "client_missing" && connector.state === "draft");
  if (!isKept) return connector;
  const { service, upstream, pid, table } = started;
  const { connectorId, mode, expose, target, deploymentUrl } = upstream;
  if (table !== undefined) await keepTableMode(connectorId, table.mode, storage);
  const deployment = { connectorId, mode, expose, target, enableDb: service.enableDb, pid, deployedAt: now() };
  const state = outcome === "passed" ? "active" : "draft";
  return storage.connectors.recordDeployment(deployment, state, `${deploymentUrl}/mcp`);
}

/**
 * The address of the server at this and every later deploy, because it is the issuer that its
 * users' clients know.
 */
async function claimUrl({ id }: Connector, { connectors }: Storage): Promise<string> {
  const offered = `http://127.0.0.1:${await freePort()}/mcp`;
  return new URL(await connectors.claimServerUrl(id, offered)).origin;
}

async function upstreamOf(
  { name, mode, expose, environment }: ServiceFile,
  deploymentUrl: string,
  port: number,
  { connectors }: Storage,
): Promise<Upstream> {
  const platformToken = await connectors.platformToken(name);
  const allowedOrigins = splitList(environment["ALLOWED_ORIGINS"]);
  const target = { host: "127.0.0.1", port };
  return { connectorId: name, mode, expose, deploymentUrl, allowedOrigins, target, platformToken };
}

async function openIngress(upstream: Upstream, { log }: Pick<DeployDeps, "log">): Promise<Listening> {
  const port = Number(new URL(upstream.deploymentUrl).port);
  try {
    return await listen(createIngress(upstream, { log }), { host: "127.0.0.1", port });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "EADDRINUSE") throw cause;
    const text = `Port ${port}, where users reach this server, is in use. Stop the process that listens there: the port cannot change, because the issuer contains it.`;
    throw new Error(text, { cause });
  }
}

async function testOf(
  { id }: Connector,
  upstream: Upstream,
  { storage, fetch, config, say }: DeployDeps,
): Promise<ConnectionTest> {
  // Reads the settings again: an administrator may have entered the client while the server
  // started.
  const connector = await storage.connectors.find(id);
  if (connector === undefined) throw new OAuthError("not_found", "This connector does not exist any more");
  const { settings } = connector;
  const subject = { ...upstream, settings, callbackUrl: redirectUriOf(connector, config.platformUrl) };
  return testConnection(subject, { fetch, onCheck: (check) => say(describeCheck(check)) });
}

function describeCheck({ outcome, said, remedy }: Check): string {
  const mark = { passed: "✓", client_missing: "○", failed: "✗" }[outcome];
  return remedy === undefined ? `  ${mark} ${said}` : `  ${mark} ${said}\n    → ${remedy}`;
}
