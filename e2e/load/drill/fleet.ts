/** The processes of one service behind a balancer: rolled to another build one by one, or killed. */
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../../support/free-port.ts";
import type { ServiceProcess } from "../../support/service-process.ts";
import { type Balancer, isReadyAt } from "./balancer.ts";

export interface Fleet {
  /**
   * Replaces each process by one of this build, which is ready before the old process gets SIGTERM.
   */
  rollTo(bundle: string): Promise<void>;
  /** SIGKILL to the first process. @returns starts another in its place */
  kill(): Promise<() => Promise<void>>;
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
  const add = async (): Promise<Member> => {
    const port = await freePort();
    const process = await start(current, port);
    balancer.add(port);
    for (let tries = 0; !(await isReadyAt(port)); tries += 1) {
      if (tries > 300) throw new Error(`${process.url} did not become ready:\n${process.stderr()}${process.stdout()}`);
      await sleep(100);
    }
    return { port, process };
  };
  const end = async ({ port, process }: Member): Promise<void> => {
    await process.stop();
    balancer.remove(port);
  };
  let members = await Promise.all(Array.from({ length: processes }, add));
  return {
    rollTo: async (next) => {
      current = next;
      for (const old of members) {
        members = [...members, await add()];
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
        members = [...members, await add()];
      };
    },
    stop: async () => {
      await Promise.all(members.map(end));
      members = [];
    },
  };
}
