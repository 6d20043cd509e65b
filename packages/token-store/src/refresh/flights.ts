/** One refresh of a record at a time in this process; everybody else who needs it joins. */
import type { Clock, EpochSeconds } from "@oauth-broker/oauth-core";
import type { RefreshTimes } from "./times.ts";
import type { RowKey } from "../storage/token-rows.ts";

export interface Flights<T> {
  /** Starts the work, or shares what is under way. */
  join(row: RowKey, work: () => Promise<T>): Promise<T>;
  /**
   * Ahead of time: for one caller. All others, and all for a while after a failure, get `old`. It runs beside what is
   * joined: who needs tokens now must not share a refresh that gives up at once.
   */
  ahead(row: RowKey, work: () => Promise<T>, old: T): Promise<T>;
}

/** Records whose refresh ahead of time failed; more than that are not remembered. */
const MAX_PAUSED = 10_000;

export function createFlights<T>({
  now,
  times,
}: {
  readonly now: Clock;
  readonly times: Pick<RefreshTimes, "aheadPauseSeconds">;
}): Flights<T> {
  const joined = new Map<string, Promise<T>>();
  const aheads = new Set<string>();
  const pausedUntil = new Map<string, EpochSeconds>();

  return {
    //= bar#RF-1
    join: async (row, work) => {
      const id = idOf(row);
      const underWay = joined.get(id);
      if (underWay !== undefined) return underWay;
      const flight = work().finally(() => joined.delete(id));
      joined.set(id, flight);
      return flight;
    },
    ahead: async (row, work, old) => {
      const id = idOf(row);
      if (aheads.has(id) || joined.has(id) || now() < (pausedUntil.get(id) ?? 0)) return old;
      aheads.add(id);
      try {
        const fresh = await work();
        pausedUntil.delete(id);
        return fresh;
      } catch (error) {
        const [oldest] = pausedUntil.keys();
        if (pausedUntil.size >= MAX_PAUSED && oldest !== undefined) pausedUntil.delete(oldest);
        pausedUntil.set(id, now() + times.aheadPauseSeconds);
        throw error;
      } finally {
        aheads.delete(id);
      }
    },
  };
}

function idOf({ pk, sk }: RowKey): string {
  return `${pk.length}:${pk}${sk}`;
}
