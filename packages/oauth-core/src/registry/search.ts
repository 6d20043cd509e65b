/**
 * Finds vendors by what a user would type: a part of an id, a name or an alias, in any case and with
 * or without spaces. Used by the list of the broker and by the vendor tools.
 */
import { oncePerObject } from "../mechanics/expiring-map.ts";
import type { RegistryEntry } from "./entry/registry-entry.ts";

type Named = Pick<RegistryEntry, "vendor" | "aliases">;

/**
 * @param query an empty one finds all
 * @returns the best matches first: the whole name, its beginning, the beginning of a word in it, any
 *   part; those that are on before those that are off, then by id
 */
export function searchVendors<Entry extends Named>(entries: Iterable<Entry>, query: string): Entry[] {
  const wanted = folded(query);
  const found = [...entries].flatMap((entry) => {
    const rank = rankOf(entry, wanted);
    return rank === undefined ? [] : [{ entry, rank, isOff: Number(!entry.vendor.enabled) }];
  });
  return found
    .toSorted((a, b) => a.rank - b.rank || a.isOff - b.isOff || (a.entry.vendor.id < b.entry.vendor.id ? -1 : 1))
    .map(({ entry }) => entry);
}

function rankOf(entry: Named, wanted: string): number | undefined {
  const { whole, words } = foldedNames(entry);
  if (whole.includes(wanted)) return 0;
  if (whole.some((name) => name.startsWith(wanted))) return 1;
  if (words.some((word) => word.startsWith(wanted))) return 2;
  return whole.some((name) => name.includes(wanted)) ? 3 : undefined;
}

/** Folding costs more than the search, and a stranger may search as often as they like. */
const foldedNames = oncePerObject((entry: Named) => {
  const names = [entry.vendor.id, entry.vendor.name, ...(entry.aliases ?? [])];
  const words = names.flatMap((name) => name.split(/[^\p{L}\p{N}]+/u));
  return { whole: names.map(folded), words: words.map(folded) };
});

function folded(text: string): string {
  return text
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, "");
}
