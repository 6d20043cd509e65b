/**
 * What remains of an entry whose endpoints another party replaces: nothing that would send that
 * party's tokens on, or vouch for its answers. Which fields those are is said in fields.ts.
 */
import { ISSUER_FIELDS, TOKEN_ENDPOINT_FIELDS } from "./fields.ts";
import type { ResolvedVendor, Vendor } from "./vendor.ts";

/** An entry at another party's token endpoint: nothing else of it may receive that party's tokens. */
//= bar#BY-4
export function withoutTokenRecipients<Known extends Vendor | ResolvedVendor>(vendor: Known): Known {
  return { ...without(vendor, TOKEN_ENDPOINT_FIELDS), apiHosts: [] };
}

/** An entry at another party's authorization endpoint: its issuer and keys do not vouch for that. */
export function withoutIssuer<Known extends Vendor | ResolvedVendor>(vendor: Known): Known {
  return { ...without(vendor, ISSUER_FIELDS), issuerSpelling: "exact", issRequired: false };
}

/** @param names of optional fields, and of `apiHosts` */
export function without<Known extends Vendor | ResolvedVendor>(vendor: Known, names: readonly (keyof Vendor)[]): Known {
  const left: readonly string[] = names;
  return Object.fromEntries(Object.entries(vendor).filter(([name]) => !left.includes(name))) as unknown as Known;
}
