/** The processes of one service behind a balancer: rolled to another build one by one, killed, or all down for a time. */
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../../support/free-port.ts";
import type { ServiceProcess } from "../../support/service-process.ts";
import type { Balancer } from "./balancer.ts";

export interface Fleet {
  /**
   * Replaces each process by one of this build, which is ready before the old process gets SIGTERM.
   */
  rollTo(bundle: string): Promise<void>;
  /** SIGKILL to the first process. @returns starts another in its place */
  kill(): Promise<() => Promise<void>>;
  /** Stops all, which start again after `act`. The balancer cuts connections in the meantime. */
  whileDown(act: () => void): Promise<void>;
  /** Ends the processes by SIGTERM, and leaves none. */
  stop(): Promise<void>;
}

interface Member {
  readonly port: number;
  readonly process: ServiceProcess;
}

/**
 * @param start a process of this build on this port
 * @throws Error when a process does not become ready
 */
export async function startFleet(
  { balancer, processes, bundle }: { readonly balancer: Balancer; readonly processes: number; readonly bundle: string },
  start: (bundle: string, port: number) => Promise<ServiceProcess>,
): Promise<Fleet> {
  let current = bundle;
  let members: Member[] = [];
  const add = async (): Promise<void> => {
    const port = await freePort();
    const process = await start(current, port);
    members = [...members, { port, process }];
    balancer.add(port);
    for (let tries = 0; !balancer.isReady(port); tries += 1) {
      if (tries > 300) throw new Error(`${process.url} did not become ready:\n${process.stderr()}${process.stdout()}`);
      await sleep(100);
    }
  };
  const end = async ({ port, process }: Member): Promise<void> => {
    await process.stop();
    balancer.remove(port);
  };
  const addAll = async (): Promise<void> => void (await Promise.all(Array.from({ length: processes }, add)));
  const stop = async (): Promise<void> => {
    await Promise.all(members.map(end));
    members = [];
  };
  await addAll();
  return {
    rollTo: async (next) => {
      current = next;
      for (const old of members) {
        await add();
        await end(old);
        members = members.filter((member) => member !== old);
      }
    },
    kill: async () => {
      const [first, ...others] = members;
      if (first === undefined) throw new Error("There is no process to kill");
      first.process.signal("SIGKILL");
      await first.process.exited();
      members = others;
      return async () => {
        balancer.remove(first.port);
        await add();
      };
    },
    whileDown: async (act) => {
      await stop();
      act();
      await addAll();
    },
    stop,
  };
}
