/**
 * How far a vendor is believed: its tier, which network its endpoints may reach, and what of its entry holds at endpoints of the
 * caller's. Discovers.
 */
import { defined } from "@oauth-broker/oauth-core";
import type { VendorClient } from "@oauth-broker/oauth-core/client";
import type { ResolvedVendor, Vendor, VendorCredentials } from "@oauth-broker/oauth-core/registry";
import type { Deps } from "../deps.ts";
import { isForeign, type Overrides, type VendorEndpoints } from "./endpoints.ts";
import { CUSTOM_VENDOR } from "./request.ts";

/**
 * 1: an entry at its own hosts. 3: everything a caller names. (2 were issuers of the caller's that
 * send `iss`; they are 3 now.)
 */
export type Tier = 1 | 3;

export interface TrustedVendor {
  readonly vendor: ResolvedVendor;
  readonly tier: Tier;
  /** Asks this vendor, and reaches what it may reach. */
  readonly vendorClient: VendorClient;
}

/** @throws OAuthError vendor_response_invalid, temporarily_unavailable when discovery fails */
export async function resolveTrusted(
  { target, base, overrides, isVouchedFor, fillsDomain }: VendorEndpoints,
  credentials: VendorCredentials,
  { vendorClient: trusted, untrustedVendorClient: untrusted }: Pick<Deps, "vendorClient" | "untrustedVendorClient">,
): Promise<TrustedVendor> {
  const baseClient = isVouchedFor ? trusted : untrusted;
  const resolved = await baseClient.resolve(withOwnSecret(base, credentials));
  if (target.vendor === CUSTOM_VENDOR) {
    // Also an issuer that names itself in every answer: it can make another vendor's answer carry
    // its name.
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
    // Private networks are for endpoints the operator wrote down.
    vendorClient: overrides.tokenEndpoint === undefined ? baseClient : untrusted,
  };
}

function hasOverrides({ authorizationEndpoint, tokenEndpoint }: Overrides): boolean {
  return (authorizationEndpoint ?? tokenEndpoint) !== undefined;
}

/** The vendor's dialect stays. What belongs to a place that is left, goes: its issuer and keys, its further endpoints. */
function withOverrides(
  resolved: ResolvedVendor,
  overrides: Overrides,
  foreign: { readonly authorization: boolean; readonly token: boolean },
): ResolvedVendor {
  const { issuer, issuerSpelling, issuerTemplate, jwksUri, issExpected, ...others } = resolved;
  const { refreshEndpoint, revocationEndpoint, revocation, ...rest } = others;
  const who = foreign.authorization
    ? { issuerSpelling: "exact" as const, issExpected: false }
    : {
        ...defined({ issuer, jwksUri }),
        ...defined({ issuerTemplate }),
        issuerSpelling,
        issExpected,
      };
  const where = foreign.token
    ? {}
    : { ...defined({ refreshEndpoint, revocationEndpoint }), ...defined({ revocation }) };
  return { ...rest, ...who, ...where, ...overrides };
}

/** Tokens of a vendor that no file vouches for never wait here. */
function parkingCodes(vendor: ResolvedVendor): ResolvedVendor {
  return vendor.redeemAt === "token" ? vendor : { ...vendor, redeemAt: "token" };
}

/** The entry may be one of a public client; a secret the caller brings is brought to be used. */
function withOwnSecret(base: Vendor, { source, clientSecret }: VendorCredentials): Vendor {
  const isUnused = source === "byoc" && clientSecret !== undefined && base.tokenEndpointAuthMethod === "none";
  return isUnused ? { ...base, tokenEndpointAuthMethod: "client_secret_basic" } : base;
}
