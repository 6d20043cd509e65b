/**
 * A map that creates a value when it is first requested: of the registry's hundreds of entries a
 * process needs few, and most callers need only the ids. Used by registry.ts.
 */

/**
 * @param makers in the order the map has; each is called once at most
 * @param aliases other names of keys: they are found and not listed
 * @returns a map in all but `instanceof`; iterating over its values makes them all
 */
export function lazyMap<V extends object>(
  makers: ReadonlyMap<string, () => V>,
  aliases: ReadonlyMap<string, string> = new Map(),
): ReadonlyMap<string, V> {
  const keyOf = (name: string): string => (makers.has(name) ? name : (aliases.get(name) ?? name));
  const made = new Map<string, V>();
  const make = (key: string, maker: () => V): V => {
    const known = made.get(key);
    if (known !== undefined) return known;
    const value = maker();
    made.set(key, value);
    return value;
  };
  function* entries(): MapIterator<[string, V]> {
    for (const [key, maker] of makers) yield [key, make(key, maker)];
  }
  function* values(): MapIterator<V> {
    for (const [key, maker] of makers) yield make(key, maker);
  }
  const map: ReadonlyMap<string, V> = {
    size: makers.size,
    has: (name) => makers.has(keyOf(name)),
    get: (name) => {
      const key = keyOf(name);
      const maker = makers.get(key);
      return maker === undefined ? undefined : make(key, maker);
    },
    keys: () => makers.keys(),
    entries,
    values,
    [Symbol.iterator]: entries,
    forEach: (callback, thisArg) => {
      for (const [key, value] of entries()) callback.call(thisArg, value, key, map);
    },
  };
  return map;
}
