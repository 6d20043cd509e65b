/**
 * What is kept for a while, under our Clock: lru-cache, where the entry not used for longest makes
 * room. What strangers can fill must not grow.
 */
import { LRUCache } from "lru-cache";
import type { Clock, EpochSeconds } from "../ports.ts";

/** A map whose entries end at a time. */
export interface ExpiringMap<Value> {
  /** @returns undefined from `until` on */
  get(key: string): Value | undefined;
  /** @param until from this second on the entry is gone */
  set(key: string, value: Value, until: EpochSeconds): void;
  delete(key: string): void;
}

/**
 * @param mostEntries beyond them the entry not used for longest makes room
 * @returns an empty map; expiry goes by `now`
 */
export function createExpiringMap<Value extends object | string | true>(
  mostEntries: number,
  now: Clock,
): ExpiringMap<Value> {
  // The clock is read at each use (`ttlResolution`), so a clock that is advanced counts at once.
  // `max` would set aside memory for all entries from the start; a size of one each does not.
  const entries = new LRUCache<string, Value>({
    maxSize: mostEntries,
    sizeCalculation: () => 1,
    ttlResolution: 0,
    perf: { now: () => now() * 1000 },
  });
  return {
    get: (key) => entries.get(key),
    delete: (key) => void entries.delete(key),
    set: (key, value, until) => {
      const seconds = until - now();
      // An entry is stale after its `ttl`, not at it; and one of 0 would never be.
      if (seconds > 0) entries.set(key, value, { ttl: seconds * 1000 - 1 });
      else entries.delete(key);
    },
  };
}
