/**
 * `deploy run`: performs one deploy under the connector's lease, reports it step by step, then
 * keeps the server running until a signal or the end of the server. Prints one JSON line with the
 * outcome on stdout.
 */
import type { Fetch } from "@oauth-broker/oauth-core";
import { createEgress } from "@oauth-broker/oauth-core/egress";
import { EXIT } from "../../cli.ts";
import { readProject } from "./context.ts";
import { deploy, type DeployDeps, type Deployed } from "../deploy.ts";
import { type Holder, isProcessAlive, type Lease, takeLease } from "../deploy-lease.ts";

export interface RunContext extends Omit<DeployDeps, "fetch" | "signal"> {
  /**
   * The variables of `environment` that the server may receive when its service.yaml refers to
   * them.
   */
  readonly allowed: readonly string[];
}

const TIMEOUT_MS = 20_000;

/**
 * @returns the exit code
 * @throws ConfigError, OAuthError, Error: for the operator
 */
export async function runDeploy(folder: string, context: RunContext): Promise<number> {
  const { environment, allowed, storage, now } = context;
  const project = readProject(folder, context, { variables: environment, allowed });
  const { name } = project.service;
  // As they are written, the references are not filled in yet.
  const written = Object.values(readProject(folder, context).service.environment);
  for (const unused of allowed.filter((variable) => !written.includes(`env:${variable}`)))
    context.say(`--env ${unused}: no variable of service.yaml says env:${unused}, so the server does not get it.`);
  const taken = await takeLease(name, process.pid, { records: storage.records, now, isAlive: isProcessAlive });
  if ("holder" in taken) {
    context.say(heldBy(name, taken.holder));
    return EXIT.failed;
  }
  const stop = new AbortController();
  const { signal } = stop;
  void context.stopped.then(() => stop.abort());
  const egress = createEgress({ allowLoopback: true, allowCidrs: [], timeoutMs: TIMEOUT_MS });
  try {
    const fetch: Fetch = (url, init) => egress.fetch(url, { ...init, signal });
    const deployed = await deploy(project, { ...context, fetch, signal });
    return await keepRunning(deployed, taken.lease, context);
  } catch (error) {
    if (!signal.aborted) throw error;
    context.say("Stopped before the deploy finished. The connector is unchanged.");
    return EXIT.failed;
  } finally {
    await taken.lease.release();
    await egress.close();
  }
}

async function keepRunning(deployed: Deployed, lease: Lease, { say, print, stopped }: RunContext): Promise<number> {
  const { connector, test } = deployed;
  try {
    print(JSON.stringify({ event: "deployed", connector: connector.id, ...outcomeOf(deployed) }));
    say(summaryOf(deployed));
    if (test.outcome === "client_missing") return EXIT.draft;
    if (test.outcome === "failed") return EXIT.failed;
    const end = await Promise.race([
      stopped.then(() => "stopped" as const),
      lease.lost.then(() => "lost" as const),
      deployed.ended.then((code) => `The server ended by itself with code ${code}. See deploy logs.`),
    ]);
    if (end === "stopped") return EXIT.done;
    say(end === "lost" ? "Another deploy of this connector took over." : end);
    return EXIT.failed;
  } finally {
    await deployed.stop();
  }
}

function outcomeOf({ connector, test }: Deployed): Readonly<Record<string, string>> {
  const isServed = test.outcome === "passed" && connector.serverUrl !== undefined;
  return { state: connector.state, test: test.outcome, ...(isServed ? { url: connector.serverUrl } : {}) };
}

function summaryOf({ connector, test }: Deployed): string {
  const { id, state, serverUrl } = connector;
  if (test.outcome === "passed")
    return `${id} is ${state}: ${serverUrl ?? ""}\nThe server runs until this command ends (Ctrl-C).`;
  if (test.outcome === "client_missing")
    return `${id} stays ${state}: its OAuth client is missing. The server was stopped.`;
  return `${id} stays ${state}: the connection test failed. The server was stopped.`;
}

function heldBy(name: string, { pid, since }: Holder): string {
  const at = new Date(since * 1000).toISOString();
  return `${name} is deployed by process ${pid} since ${at}. Stop that process first; nothing was changed.`;
}
