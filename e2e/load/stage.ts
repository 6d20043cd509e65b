/** The folders and the processes of a run, and that all of it ends. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Service, type ServiceProcess, startService } from "../support/service-process.ts";

/** A busy machine, and a store that is filled first, take long. */
const START_MS = 120_000;

/** @throws Error with its stderr when it ends, or prints nothing, before it listens */
export async function startMeasured(service: Service): Promise<ServiceProcess> {
  return startService({ ...service, isMeasured: true, deadlineMs: START_MS });
}

type Ending = { stop(): Promise<void> } | { close(): Promise<void> };

export interface Stage {
  /** @returns a new folder */
  folder(name: string): string;
  /** Starts a server that is measured. */
  start(service: Service): Promise<ServiceProcess>;
  /** Adds servers that are measured, to be stopped first; returns them. */
  add<T extends Ending>(server: T): T;
  /** Adds what servers have connections to, to be stopped after them; returns it. */
  addBehind<T extends Ending>(one: T): T;
  /** What this process opens, until the end: the token store and the SDK of AWS read them there. */
  setVariables(variables: Readonly<Record<string, string>>): void;
}

/**
 * Runs a part, and ends everything it started.
 *
 * @throws Error also if a measured server ended in another way than requested
 */
export async function onStage<T>(run: (stage: Stage) => Promise<T>): Promise<T> {
  const root = mkdtempSync(join(tmpdir(), "oauth-broker-load-"));
  const servers: Ending[] = [];
  const behind: Ending[] = [];
  const stage: Stage = {
    folder: (name) => mkdtempSync(join(root, `${name}-`)),
    start: async (service) => stage.add(await startMeasured(service)),
    add: (server) => {
      servers.push(server);
      return server;
    },
    addBehind: (one) => {
      behind.push(one);
      return one;
    },
    setVariables: (variables) => {
      const before = { ...process.env };
      Object.assign(process.env, variables);
      const restore = async (): Promise<void> => {
        for (const name of Object.keys(variables)) {
          delete process.env[name];
          if (before[name] !== undefined) process.env[name] = before[name];
        }
      };
      stage.addBehind({ stop: restore });
    },
  };
  const stop = async (): Promise<void> => {
    const ended = await Promise.allSettled(servers.map(end));
    for (const one of behind.toReversed()) await end(one).catch(() => undefined);
    rmSync(root, { recursive: true, force: true });
    for (const one of ended) if (one.status === "rejected") throw one.reason;
  };
  const result = await run(stage).catch(async (error: unknown) => {
    await stop().catch(() => undefined);
    throw error;
  });
  await stop();
  return result;
}

function end(one: Ending): Promise<void> {
  return "stop" in one ? one.stop() : one.close();
}
