/** The folders and the processes of a run, and that all of it ends. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Service, startService } from "../support/service-process.ts";

type Ending = { stop(): Promise<void> } | { close(): Promise<void> };

export type Stage = ReturnType<typeof openStage>;
function openStage() {
  const root = mkdtempSync(join(tmpdir(), "oauth-broker-load-"));
  const servers: Ending[] = [];
  const behind: Ending[] = [];
  const addTo =
    (all: Ending[]) =>
    <T extends Ending>(one: T): T => {
      all.push(one);
      return one;
    };
  const [add, addBehind] = [addTo(servers), addTo(behind)];
  return {
    /** @returns a new folder */
    folder: (name: string) => mkdtempSync(join(root, `${name}-`)),
    /** Starts a server that is measured. */
    start: async (service: Service) => add(await startService({ ...service, isMeasured: true })),
    /** Starts one that servers have connections to. */
    startBehind: async (service: Service) => addBehind(await startService({ ...service, isMeasured: true })),
    /** Adds servers that are measured, to be stopped first; returns them. */
    add,
    /** Adds what servers have connections to, to be stopped after them; returns it. */
    addBehind,
    /** What this process opens, until the end: the token store and the SDK of AWS read them there. */
    setVariables: (variables: Readonly<Record<string, string>>) => {
      const before = { ...process.env };
      Object.assign(process.env, variables);
      const restore = async (): Promise<void> => {
        for (const name of Object.keys(variables)) delete process.env[name];
        Object.assign(process.env, before);
      };
      addBehind({ stop: restore });
    },
    /** @throws Error if a measured server ended in another way than requested */
    end: async () => {
      const ended = await Promise.allSettled(servers.map(end));
      for (const one of behind.toReversed()) await end(one).catch(() => undefined);
      rmSync(root, { recursive: true, force: true });
      for (const one of ended) if (one.status === "rejected") throw one.reason;
    },
  };
}

/**
 * Runs a part, and ends everything it started.
 *
 * @throws Error also if a measured server ended in another way than requested
 */
export async function onStage<T>(run: (stage: Stage) => Promise<T>): Promise<T> {
  const stage = openStage();
  const result = await run(stage).catch(async (error: unknown) => {
    await stage.end().catch(() => undefined);
    throw error;
  });
  await stage.end();
  return result;
}

function end(one: Ending): Promise<void> {
  return "stop" in one ? one.stop() : one.close();
}
