/**
 * One refresh of a record at a time in this process; all other callers that need it share the
 * result.
 */
import { createExpiringMap, createSharedCalls } from "@oauth-broker/oauth-core";
import type { RefreshContext } from "./context.ts";
import { rowId, type RowKey } from "../storage/token-rows.ts";

export type Flights<T> = ReturnType<typeof createFlights<T>>;

/** Records whose refresh ahead of time failed; any more are not remembered. */
const MAX_PAUSED = 10_000;

export function createFlights<T>({ now, times }: Pick<RefreshContext, "now" | "times">) {
  const joined = createSharedCalls<T>();
  const aheads = new Set<string>();
  const paused = createExpiringMap<true>(MAX_PAUSED, now);

  return {
    /** Starts the work, or shares the work under way. */
    //= bar#RF-1
    join: (row: RowKey, work: () => Promise<T>): Promise<T> => joined.run(rowId(row), work),
    /**
     * Ahead of time: for one caller. All others, and for a while after a failure every caller, get
     * `old`. It is not shared with `join`: a caller that needs tokens now must not share a refresh
     * that gives up at once.
     */
    ahead: async (row: RowKey, work: () => Promise<T>, old: T): Promise<T> => {
      const id = rowId(row);
      if (aheads.has(id) || joined.find(id) !== undefined || paused.get(id)) return old;
      aheads.add(id);
      try {
        const fresh = await work();
        paused.delete(id);
        return fresh;
      } catch (error) {
        paused.set(id, true, now() + times.aheadPauseSeconds);
        throw error;
      } finally {
        aheads.delete(id);
      }
    },
  };
}
