/** What one operation of a process does, from the counts of counter.ts before and after many. */
import { EventEmitter, once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { ServiceProcess } from "../../../support/service-process.ts";
import type { Counts } from "./counter.ts";

/** Per operation, rounded to whole numbers. */
export interface OperationCounts extends Counts {
  readonly logBytes: number;
}

/** By operation and subject. */
export type CountTable = Readonly<Record<string, Readonly<Record<string, OperationCounts>>>>;

/** What a process loads first (`--import`). */
export const COUNTER: string = new URL("counter.ts", import.meta.url).href;

/** So that caches are full and lazy parts are loaded. */
const WARM_UP = 30;
/** What happens by time (a flush, a metric) is rounded away. */
const OPERATIONS = 60;
/** A buffered log has been written by then. */
const SETTLE_MS = 400;

/** @param read the counts of the process so far */
export async function countOperation(
  read: () => OperationCounts | Promise<OperationCounts>,
  operation: () => Promise<unknown>,
): Promise<OperationCounts> {
  for (let done = 0; done < WARM_UP; done += 1) await operation();
  const before = await read();
  for (let done = 0; done < OPERATIONS; done += 1) await operation();
  const after = await read();
  const names = Object.keys(after) as (keyof OperationCounts)[];
  const each = names.map((name) => [name, Math.round((after[name] - before[name]) / OPERATIONS)]);
  return Object.fromEntries(each) as OperationCounts;
}

/** Reads the counts of servers that have loaded the counter. */
export interface ServerCounts {
  /** Takes what a server prints once it listens. */
  readonly onLine: (name: string, line: string) => void;
  readonly read: (name: string, server: ServiceProcess) => Promise<OperationCounts>;
}

export function createServerCounts(): ServerCounts {
  const answers = new EventEmitter();
  const bytes = new Map<string, number>();
  return {
    onLine: (name, line) => {
      if (line.startsWith('{"counts"')) answers.emit(name, (JSON.parse(line) as { counts: Counts }).counts);
      else bytes.set(name, (bytes.get(name) ?? 0) + Buffer.byteLength(line) + 1);
    },
    read: async (name, { pid }) => {
      await sleep(SETTLE_MS);
      const answer = once(answers, name) as Promise<[Counts]>;
      process.kill(pid, "SIGUSR2");
      const [counts] = await answer;
      return { ...counts, logBytes: bytes.get(name) ?? 0 };
    },
  };
}
