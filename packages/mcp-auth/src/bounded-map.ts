/**
 * A map that forgets: what strangers can fill must not grow, so the entry that was set longest ago
 * goes first.
 */

export type BoundedMap<Value> = Pick<Map<string, Value>, "delete" | "get" | "has" | "set">;

export function createBoundedMap<Value>(mostEntries: number): BoundedMap<Value> {
  // Insertion order is order of `set`, because `set` takes an entry out before it puts it in.
  const entries = new Map<string, Value>();
  return {
    delete: (key) => entries.delete(key),
    get: (key) => entries.get(key),
    has: (key) => entries.has(key),
    set: (key, value) => {
      entries.delete(key);
      const [oldest] = entries.keys();
      if (entries.size >= mostEntries && oldest !== undefined) entries.delete(oldest);
      return entries.set(key, value);
    },
  };
}
