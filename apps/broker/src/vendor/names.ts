/**
 * Finds a vendor by its id or another name of it. Every place that takes the id of a vendor from a
 * request or the file asks here, so that an alias is never a way around a check of the id.
 */
import { nearest } from "@oauth-broker/oauth-core/configuration";
import type { VendorConfig } from "../config/types.ts";

type Vendors = ReadonlyMap<string, VendorConfig>;

const ALIASES = new WeakMap<Vendors, ReadonlyMap<string, string>>();

/** @param name an id, or another name of the vendor; an id takes precedence */
export function vendorNamed(name: string, vendors: Vendors): VendorConfig | undefined {
  return vendors.get(name) ?? vendors.get(aliasesOf(vendors).get(name) ?? name);
}

/** The ids of the vendors by their other names. */
export function aliasesOf(vendors: Vendors): ReadonlyMap<string, string> {
  const known = ALIASES.get(vendors);
  if (known !== undefined) return known;
  const named = [...vendors].flatMap(([id, { aliases = [] }]) => aliases.map((alias) => [alias, id] as const));
  const found = new Map(named.filter(([alias]) => !vendors.has(alias)));
  ALIASES.set(vendors, found);
  return found;
}

const NAME = /^[a-z0-9][a-z0-9 ._-]{1,39}$/i;

/** @returns the name, of a vendor that is on, that a mistyped one is nearest to */
export function nearestName(written: string, vendors: Vendors): string | undefined {
  if (!NAME.test(written)) return undefined;
  const isOn = (id: string): boolean => vendors.get(id)?.vendor.enabled === true;
  const aliases = [...aliasesOf(vendors)].flatMap(([alias, id]) => (isOn(id) ? [alias] : []));
  return nearest(written, [...[...vendors.keys()].filter(isOn), ...aliases]);
}
