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

interface Stoppable {
  stop(): Promise<void>;
}

export interface Stage {
  /** @returns a new folder */
  folder(name: string): string;
  /** Starts a server that is measured, by default in a new folder with its name. */
  start(service: Service): Promise<ServiceProcess>;
  /** Adds servers that are measured, to be stopped first; returns them. */
  add<T extends Stoppable>(server: T): T;
  /** Adds what servers have connections to, to be stopped after them; returns it. */
  addBehind<T extends Stoppable>(one: T): T;
  /** Of this process, until the end: the token store and the SDK of AWS read them there. */
  setVariables(variables: Readonly<Record<string, string>>): void;
}

/**
 * Runs a part, and ends everything it started.
 *
 * @throws Error also if a measured server ended in another way than requested
 */
export async function onStage<T>(run: (stage: Stage) => Promise<T>): Promise<T> {
  const root = mkdtempSync(join(tmpdir(), "oauth-broker-load-"));
  const servers: Stoppable[] = [];
  const behind: Stoppable[] = [];
  const stage: Stage = {
    folder: (name) => mkdtempSync(join(root, `${name}-`)),
    start: async (service) =>
      stage.add(await startMeasured({ ...service, folder: service.folder ?? stage.folder(service.name) })),
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
    const ended = await Promise.allSettled(servers.map((server) => server.stop()));
    for (const one of behind.toReversed()) await one.stop().catch(() => undefined);
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
