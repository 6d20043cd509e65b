/**
 * A map that creates a value when it is first requested: of the registry's hundreds of entries a
 * process needs few, and most callers need only the ids. Used by registry.ts.
 */
import { oncePerObject } from "../mechanics/expiring-map.ts";

/**
 * @param makers in the order the map has; each is called once at most
 * @param aliases other names of keys: they are found and not listed
 * @returns a map in all but `instanceof`; iterating over its values makes them all
 */
export function lazyMap<V extends object>(
  makers: ReadonlyMap<string, () => V>,
  aliases: ReadonlyMap<string, string> = new Map(),
): ReadonlyMap<string, V> {
  const made = oncePerObject((maker: () => V) => maker());
  const makerOf = (name: string): (() => V) | undefined => makers.get(name) ?? makers.get(aliases.get(name) ?? name);
  function* entries(): MapIterator<[string, V]> {
    for (const [key, maker] of makers) yield [key, made(maker)];
  }
  function* values(): MapIterator<V> {
    for (const maker of makers.values()) yield made(maker);
  }
  const map: ReadonlyMap<string, V> = {
    size: makers.size,
    has: (name) => makerOf(name) !== undefined,
    get: (name) => {
      const maker = makerOf(name);
      return maker && made(maker);
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
