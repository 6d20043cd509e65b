/**
 * One measurement: a number of flows, or refreshes, over 32 connections against one subject, and
 * the processor time its process used for them.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type Connection, openConnection } from "../../connection.ts";
import { cpuMicroseconds } from "../../cpu-time.ts";
import { type Actor, createActor, type Tokens } from "./flow.ts";
import type { ServerProcess } from "../../server-process.ts";
import type { Parties } from "./subjects.ts";

export const CONNECTIONS = 32;
export type Work = "flow" | "refresh";

export interface Measurement {
  /** CPU time of the server's process, per flow or refresh. */
  readonly cpuMicroseconds: number;
  /** The share of the time that the server was on a processor. Near 1: the driver kept it busy. */
  readonly busy: number;
}

export interface MeasurementByProcess extends Measurement {
  /** What each process used of `cpuMicroseconds`. */
  readonly byProcess: readonly number[];
}

/**
 * Long enough for a buffered log to be written, so that its cost falls into the right measurement.
 */
const SETTLE_MS = 150;

/**
 * @param pids of the processes whose processor time is added up
 * @param run makes this many operations
 */
export async function measureCpu(
  pids: readonly number[],
  count: number,
  run: () => Promise<void>,
): Promise<MeasurementByProcess> {
  const usedByEach = (): readonly number[] => pids.map(cpuMicroseconds);
  await sleep(SETTLE_MS);
  const atStart = usedByEach();
  const startedAt = performance.now();
  await run();
  const wallMicroseconds = (performance.now() - startedAt) * 1000;
  const atEnd = usedByEach();
  await sleep(SETTLE_MS);
  const sum = (ofEach: readonly number[]): number => ofEach.reduce((all, one) => all + one, 0);
  const byProcess = usedByEach().map((used, at) => (used - (atStart[at] ?? 0)) / count);
  return { cpuMicroseconds: sum(byProcess), busy: (sum(atEnd) - sum(atStart)) / wallMicroseconds, byProcess };
}

/** @param count of flows or refreshes; one more flow per connection opens it and is not counted */
export async function measure(
  server: ServerProcess,
  parties: Parties,
  { work, count }: { readonly work: Work; readonly count: number },
): Promise<Measurement> {
  const actor = createActor(server.url, parties);
  const connections = Array.from({ length: CONNECTIONS }, () => openConnection(server.url));
  try {
    const granted = await Promise.all(connections.map((connection) => actor.flow(connection)));
    return await measureCpu([server.pid], count, () => repeat(count, actor, work, connections, granted));
  } finally {
    await Promise.all(connections.map((connection) => connection.close()));
  }
}

/** @throws Error when an answer is wrong, or an access token was issued twice */
async function repeat(
  count: number,
  actor: Actor,
  work: Work,
  connections: readonly Connection[],
  granted: readonly Tokens[],
): Promise<void> {
  const seen = new Set<string>();
  let left = count;
  await Promise.all(
    connections.map(async (connection, at) => {
      const own = granted[at] ?? { accessToken: "" };
      while (left > 0) {
        left -= 1;
        const { accessToken } = work === "flow" ? await actor.flow(connection) : await actor.refresh(connection, own);
        seen.add(accessToken);
      }
    }),
  );
  if (seen.size !== count) throw new Error(`${count} answers held only ${seen.size} access tokens`);
}
