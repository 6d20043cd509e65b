/**
 * Who issues the clients of a vendor: the vendor itself, one for all its customers, or each tenant
 * its own. A secret that one tenant issued is sent to no other: the tenant runs the host that
 * receives it. Used if an operator's credentials are configured and chosen.
 */
import { isListed, placeholderNames, type PlaceholderSpecs } from "../../protocol/placeholders.ts";
import type { Vendor } from "../vendor.ts";

/** `vendor`: a client is good at every tenant. `tenant`: at the one that issued it. */
export type ClientsOf = "vendor" | "tenant";

/** Where a client secret is sent. An issuer decides that if the entry has no token endpoint. */
function recipientsOf(vendor: Vendor): string[] {
  const { issuer, tokenEndpoint, refreshEndpoint, revocationEndpoint, introspectionEndpoint, tokenCheck } = vendor;
  return [tokenEndpoint ?? issuer, refreshEndpoint, revocationEndpoint, introspectionEndpoint, tokenCheck?.endpoint]
    .filter((url) => url !== undefined)
    .map((url) => url.replaceAll("{client_id}", ""));
}

/** @returns the placeholders, of those that a caller fills, in the hosts that receive a client secret */
function inHosts(vendor: Vendor, specs: PlaceholderSpecs): string[] {
  return [...new Set(recipientsOf(vendor).flatMap((url) => placeholderNames(url.split("/", 3)[2] ?? "", specs)))];
}

/**
 * @param specs as the entry states them, without what an operator has added
 * @returns `tenant` if a value that the entry does not list is in such a host
 */
export function usualClientsOf(vendor: Vendor, specs: PlaceholderSpecs): ClientsOf {
  //= bar#XA-2
  return inHosts(vendor, specs).some((name) => !isListed(specs[name])) ? "tenant" : "vendor";
}

/**
 * The placeholders whose value is the tenant, if tenants issue the clients: those in a host that
 * receives the secret, otherwise those in the rest of its address.
 */
export function tenantPlaceholders(vendor: Vendor, specs: PlaceholderSpecs): string[] {
  const found = inHosts(vendor, specs);
  return found.length > 0 ? found : [...new Set(recipientsOf(vendor).flatMap((url) => placeholderNames(url, specs)))];
}
