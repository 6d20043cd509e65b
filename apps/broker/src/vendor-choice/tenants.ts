/**
 * If each tenant of a vendor issues its own clients: the broker's credentials are used at the
 * tenants that the operator's file lists. A secret of one tenant sent to another would be read
 * there.
 */
import { OAuthError } from "@oauth-broker/oauth-core";
import { withDefaults } from "@oauth-broker/oauth-core/vendor-client";
import type { PlaceholderSpecs } from "@oauth-broker/oauth-core/protocol";
import type { ConfiguredCredentials, VendorConfig } from "../config-types.ts";
import type { VendorTarget } from "./request.ts";

type Given = VendorTarget["placeholders"];

/**
 * The specifications for these values: the operator vouches for a tenant of the file as for any
 * listed value, and for no other.
 */
export function specsFor({ placeholders: specs, tenants = {} }: VendorConfig, given: Given = {}): PlaceholderSpecs {
  const values = withDefaults(given, specs);
  const listed = Object.entries(tenants).filter(([name, known]) => known.includes(values[name] ?? ""));
  return listed.length === 0 ? specs : withValues(specs, listed);
}

/** As if every tenant of the file were the only one: what the operator vouches for at all. */
export function vouchedSpecs({ placeholders: specs, tenants = {} }: VendorConfig): PlaceholderSpecs {
  return withValues(
    specs,
    Object.entries(tenants).filter(([, known]) => known.length > 0),
  );
}

function withValues(specs: PlaceholderSpecs, listed: readonly [string, readonly string[]][]): PlaceholderSpecs {
  return { ...specs, ...Object.fromEntries(listed.map(([name, values]) => [name, { ...specs[name], values }])) };
}

/** Whether these credentials of the broker are used at the tenant that the values name. */
export function isOfTenant(
  { tenants: narrowed = {} }: ConfiguredCredentials,
  { placeholders: specs, tenants = {} }: VendorConfig,
  given: Given = {},
): boolean {
  const values = withDefaults(given, specs);
  return Object.entries(tenants).every(([name, known]) => (narrowed[name] ?? known).includes(values[name] ?? ""));
}

/** Names no tenant: which ones the operator serves is not the caller's to know. */
export function tenantRefused(): OAuthError {
  return new OAuthError(
    "unauthorized_client",
    "Each tenant of this vendor issues its own clients, and the broker has none of the one you name: send vendor_client_id",
    { reason: "tenant_not_listed" },
  );
}
