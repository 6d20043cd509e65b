/**
 * The vendors built into the broker: those with a file in this folder, and those of the catalogue,
 * if a vendor is one entry of data. A file takes precedence over the catalogue's entry of that
 * id.
 */
import { CATALOGUE, catalogueEntry } from "./catalogue.ts";
import { FIRST_CLASS } from "./first-class/first-class.ts";
import { lazyMap } from "./lazy-map.ts";
import type { RegistryEntry } from "./entry/registry-entry.ts";

/**
 * By `vendor.id`, in the order they are listed; an alias of an entry finds it as well. A catalogue
 * entry is created when it is first requested.
 */
export const REGISTRY: ReadonlyMap<string, RegistryEntry> = lazyMap(entryMakers(), aliases());

function aliases(): Map<string, string> {
  const named = [...FIRST_CLASS, ...CATALOGUE];
  return new Map(named.flatMap(({ vendor, aliases: names = [] }) => names.map((name) => [name, vendor.id])));
}

function entryMakers(): Map<string, () => RegistryEntry> {
  const makers = new Map<string, () => RegistryEntry>(FIRST_CLASS.map((entry) => [entry.vendor.id, () => entry]));
  for (const entry of CATALOGUE) {
    if (!makers.has(entry.vendor.id)) makers.set(entry.vendor.id, () => catalogueEntry(entry));
  }
  return makers;
}
