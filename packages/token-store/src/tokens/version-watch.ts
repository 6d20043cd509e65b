/**
 * Remembers the highest version seen of each row, as far as one process can. An attacker who can
 * write the table may restore an old row, which is valid in every bit; no encryption shows that.
 * Across processes it stays undetected: docs/exceptions.md.
 */
import { LRUCache } from "lru-cache";
import { rowId, type RowKey } from "../storage/token-rows.ts";

const MAX_ROWS = 10_000;

export interface VersionWatch {
  /**
   * Records the version.
   *
   * @returns whether a higher one was seen before
   */
  wentBack(key: RowKey, version: number): boolean;
  /** The row was removed by us: a new row may start over. */
  forget(key: RowKey): void;
}

export function createVersionWatch(): VersionWatch {
  // By size, because room for a `max` is taken at once.
  const seen = new LRUCache<string, number>({ maxSize: MAX_ROWS, sizeCalculation: () => 1 });
  return {
    wentBack(key, version) {
      const id = rowId(key);
      const highest = seen.get(id) ?? 0;
      seen.set(id, Math.max(highest, version));
      //= bar#TS-19
      return version < highest;
    },
    forget: (key) => void seen.delete(rowId(key)),
  };
}
