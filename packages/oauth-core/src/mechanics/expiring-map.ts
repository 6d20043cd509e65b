/**
 * Values kept for a limited time by our Clock: lru-cache, which evicts the least recently used
 * entry. A map that requests from outside can fill must be bounded. And values kept as long as an
 * object.
 */
import { LRUCache } from "lru-cache";
import type { Clock, EpochSeconds } from "../ports.ts";

/** A map whose entries end at a time. */
export interface ExpiringMap<Value> {
  /** @returns undefined from `until` on */
  get(key: string): Value | undefined;
  /** @param until the entry is gone from this second on */
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
  // The clock is read at each use (`ttlResolution`), so advancing the clock takes effect at once.
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
      // lru-cache treats an entry as stale after its `ttl`, not at it, and never expires a ttl of
      // 0.
      if (seconds > 0) entries.set(key, value, { ttl: seconds * 1000 - 1 });
      else entries.delete(key);
    },
  };
}

/** @returns the same function, which makes one value per object, and keeps it as long as the object lives */
export function oncePerObject<Key extends object, Made>(make: (key: Key) => Made): (key: Key) => Made {
  const known = new WeakMap<Key, Made>();
  return (key) => {
    const before = known.get(key);
    if (before !== undefined) return before;
    const made = make(key);
    known.set(key, made);
    return made;
  };
}
