/**
 * The names of vendors: the vendor that an id or another name means, wherever one is taken from a
 * request or the file, and the name that a mistyped one is nearest to.
 */
import { nearest } from "@oauth-broker/oauth-core";
import { oncePerObject } from "@oauth-broker/oauth-core/registry";
import type { VendorConfig } from "../config-types.ts";

type Vendors = ReadonlyMap<string, VendorConfig>;

/** @param name an id, or another name of the vendor; an id takes precedence */
export function vendorNamed(name: string, vendors: Vendors): VendorConfig | undefined {
  return vendors.get(idNamed(name, vendors));
}

/** @returns the id that a name means; a name of no vendor as it is */
export function idNamed(name: string, vendors: Vendors): string {
  return vendors.has(name) ? name : (aliasesOf(vendors).get(name) ?? name);
}

/** The ids of the vendors by their other names. */
export const aliasesOf: (vendors: Vendors) => ReadonlyMap<string, string> = oncePerObject((vendors) => {
  const named = [...vendors].flatMap(([id, { aliases = [] }]) => aliases.map((alias) => [alias, id] as const));
  return new Map(named.filter(([alias]) => !vendors.has(alias)));
});

const NAME = /^[a-z0-9][a-z0-9 ._-]{1,39}$/i;

/** @returns the name, of a vendor that is on, that a mistyped one is nearest to */
export function nearestName(written: string, vendors: Vendors): string | undefined {
  return NAME.test(written) ? nearest(written, namesOf(vendors)) : undefined;
}

/** @returns a hint at the nearest name, for the middle of a sentence; empty if no name is near */
export function didYouMean(written: string, vendors: Vendors): string {
  const near = nearestName(written, vendors);
  return near === undefined ? "" : `, did you mean ${near}`;
}

/** Ids and aliases of the vendors that are on, in one configuration, which does not change. */
const namesOf = oncePerObject((vendors: Vendors): readonly string[] => {
  const isOn = (id: string): boolean => vendors.get(id)?.vendor.enabled === true;
  const aliases = [...aliasesOf(vendors)].flatMap(([alias, id]) => (isOn(id) ? [alias] : []));
  return [...[...vendors.keys()].filter(isOn), ...aliases];
});
