/**
 * At which tenants the broker's credentials of a vendor are used, if each tenant issues its own
 * clients: the values of the file. Called by vendors.ts.
 */
import type { PlaceholderSpecs } from "@oauth-broker/oauth-core/protocol";
import { type ClientsOf, tenantPlaceholders, usualClientsOf, type Vendor } from "@oauth-broker/oauth-core/registry";
import { isListed } from "@oauth-broker/oauth-core/protocol";
import type { ParsedVendor } from "../schema/vendor.ts";
import { namedValues } from "./placeholders.ts";
import type { ConfiguredCredentials, VendorConfig, VendorTemplate } from "../../config-types.ts";

export interface Tenancy extends Pick<VendorConfig, "placeholders" | "tenants"> {
  readonly clientsOf: ClientsOf;
  /** What is wrong with the values of a credential, by its index and placeholder. */
  readonly misfits: readonly (readonly [number, string])[];
}

/**
 * @param specs those of the registry and of the operator
 * @param known of the registry, unless the operator has replaced its endpoints
 */
export function tenancyOf(
  parsed: ParsedVendor,
  vendor: Vendor,
  specs: PlaceholderSpecs,
  credentials: readonly ConfiguredCredentials[],
  known: VendorTemplate | undefined,
): Tenancy {
  const stated = known?.placeholders ?? specs;
  const explicit = parsed.clientsOf ?? known?.clientsOf;
  const clientsOf = explicit ?? usualClientsOf(vendor, stated);
  if (clientsOf === "vendor") {
    const misfits = credentials.flatMap(({ tenants = {} }, index) =>
      Object.keys(tenants).map((name) => [index, name] as const),
    );
    return { clientsOf, placeholders: specs, misfits };
  }
  // The registry's list says which hosts the vendor has; the operator's list names tenants.
  const isTenants = (name: string): boolean =>
    !isListed(stated[name]) || (known === undefined && parsed.clientsOf === "tenant");
  const names = tenantPlaceholders(vendor, stated).filter(isTenants);
  const tenants = Object.fromEntries(names.map((name) => [name, tenantsOf(name, parsed, credentials)]));
  const open = Object.entries(specs).map(([name, spec]) => {
    const { values: _, ...rest } = spec;
    return [name, Object.hasOwn(tenants, name) ? { ...known?.placeholders[name], ...rest } : spec] as const;
  });
  const misfits = credentials.flatMap((one, index) =>
    Object.entries(one.tenants ?? {}).flatMap(([name, values]) =>
      values.every((value) => tenants[name]?.includes(value) === true) ? [] : [[index, name] as const],
    ),
  );
  return { clientsOf, placeholders: Object.fromEntries(open), tenants, misfits };
}

/** The values of the vendor; if it has none, those of its credentials. */
function tenantsOf(
  name: string,
  parsed: ParsedVendor,
  credentials: readonly ConfiguredCredentials[],
): readonly string[] {
  const own = namedValues(parsed.placeholders?.[name] ?? {});
  return [...new Set(own.length > 0 ? own : credentials.flatMap(({ tenants = {} }) => tenants[name] ?? []))];
}
