/**
 * How far a vendor is trusted: its tier, which network its endpoints may reach, which fields of its
 * entry hold at endpoints of the caller's, and whose client the flow uses there. Performs
 * discovery.
 */
import type { VendorClient } from "@oauth-broker/oauth-core/client";
import {
  type ResolvedVendor,
  type VendorCredentials,
  withoutIssuer,
  withoutTokenRecipients,
  withSecret,
} from "@oauth-broker/oauth-core/registry";
import type { Deps } from "../deps.ts";
import { isForeign, type Overrides, type VendorEndpoints } from "./endpoints.ts";
import { CUSTOM_VENDOR } from "./request.ts";

/**
 * 1: an entry at its own hosts. 3: every vendor that a caller names. (2 was an issuer of the
 * caller's that sends `iss`; such issuers are 3 now.)
 */
export type Tier = 1 | 3;

export interface TrustedVendor {
  readonly vendor: ResolvedVendor;
  readonly tier: Tier;
  /** The vendor client for this vendor, with the network it may reach. */
  readonly vendorClient: VendorClient;
}

/** @throws OAuthError vendor_response_invalid, temporarily_unavailable when discovery fails */
export async function resolveTrusted(
  { target, base, overrides, isVouchedFor, fillsDomain }: VendorEndpoints,
  credentials: VendorCredentials,
  { vendorClient: trusted, untrustedVendorClient: untrusted }: Pick<Deps, "vendorClient" | "untrustedVendorClient">,
): Promise<TrustedVendor> {
  const baseClient = isVouchedFor ? trusted : untrusted;
  const hasOwnSecret = credentials.source === "byoc" && credentials.clientSecret !== undefined;
  const resolved = await baseClient.resolve(hasOwnSecret ? withSecret(base) : base);
  if (target.vendor === CUSTOM_VENDOR) {
    // Applies also to an issuer that names itself in every answer: it can make another vendor's
    // answer carry its name.
    return { vendor: parkingCodes(resolved), tier: 3, vendorClient: untrusted };
  }
  const foreign = {
    authorization: isForeign(overrides.authorizationEndpoint, resolved),
    token: isForeign(overrides.tokenEndpoint, resolved),
  };
  const tier = fillsDomain || foreign.authorization || foreign.token ? 3 : 1;
  const vendor = hasOverrides(overrides) ? withOverrides(resolved, overrides, foreign) : resolved;
  return {
    vendor: tier === 3 ? parkingCodes(vendor) : vendor,
    tier,
    // Private networks are only for endpoints that the operator wrote down.
    vendorClient: overrides.tokenEndpoint === undefined ? baseClient : untrusted,
  };
}

function hasOverrides({ authorizationEndpoint, tokenEndpoint }: Overrides): boolean {
  return (authorizationEndpoint ?? tokenEndpoint) !== undefined;
}

/**
 * Keeps the vendor's dialect. Drops what belongs to the replaced host: its issuer and keys, and its
 * further endpoints.
 */
function withOverrides(
  resolved: ResolvedVendor,
  overrides: Overrides,
  foreign: { readonly authorization: boolean; readonly token: boolean },
): ResolvedVendor {
  const located = foreign.token ? withoutTokenRecipients(resolved) : resolved;
  return { ...(foreign.authorization ? { ...withoutIssuer(located), issExpected: false } : located), ...overrides };
}

/** Never parks tokens of a vendor that neither the registry nor the operator's file describes. */
function parkingCodes(vendor: ResolvedVendor): ResolvedVendor {
  return vendor.redeemAt === "token" ? vendor : { ...vendor, redeemAt: "token" };
}
