/**
 * How far a vendor is believed: its tier, which network its endpoints may reach, what of its entry holds at endpoints of the
 * caller's, and whose client we are there. Discovers.
 */
import { defined, OAuthError } from "@oauth-broker/oauth-core";
import type { VendorClient } from "@oauth-broker/oauth-core/client";
import type { ResolvedVendor, Vendor, VendorCredentials } from "@oauth-broker/oauth-core/registry";
import { type ClientConfig, CUSTOM_VENDOR, foldClientId, isAt, originsOf, type VendorConfig } from "../config.ts";
import type { Deps } from "../deps.ts";
import { isForeign, type Overrides, type VendorEndpoints } from "./endpoints.ts";

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
        ...(issuerTemplate === undefined ? {} : { issuerTemplate }),
        issuerSpelling,
        issExpected,
      };
  const where = foreign.token
    ? {}
    : { ...defined({ refreshEndpoint, revocationEndpoint }), ...(revocation === undefined ? {} : { revocation }) };
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

/**
 * A client of ours at a vendor is not the caller's to bring to a vendor of the caller's: codes that were given to us would go
 * there. Asked of every vendor, whatever its origin: a vendor answers under more names than its entry knows. At tier 1, where
 * codes go to the vendor itself, the user is asked instead (needsOwnerPage).
 *
 * @throws OAuthError unauthorized_client when the broker holds credentials with this client id,
 *   active or retired, at any vendor
 */
//= bar#XA-4
export function requireForeignClient(
  { clientId }: Pick<VendorCredentials, "clientId">,
  { registrations }: Pick<Deps, "registrations">,
): void {
  if (!registrations.has(foldClientId(clientId))) return;
  throw new OAuthError(
    "unauthorized_client",
    "This vendor client is the broker's own: name the vendor by its id alone, or send a vendor_client_id of your own",
    { reason: "override_not_allowed" },
  );
}

/**
 * Whether the vendor knows this flow as a registration of ours that clients of several owners use,
 * the asking client included. Who brought the client id makes no difference. Of credentials of the
 * client's own it is enough that the entry leaves its origins open.
 */
//= bar#XA-9
export function needsOwnerPage(
  {
    vendor,
    entry,
    credentials,
  }: {
    readonly vendor: Vendor;
    readonly entry: VendorConfig | undefined;
    readonly credentials: Pick<VendorCredentials, "clientId" | "source">;
  },
  { owner }: Pick<ClientConfig, "owner">,
  { registrations }: Pick<Deps, "registrations">,
): boolean {
  const held = registrations.get(foldClientId(credentials.clientId));
  if (held === undefined) return false;
  const origins = [...originsOf(vendor), ...(entry === undefined ? [] : originsOf(entry.vendor))];
  const same = held.filter((one) => isAt(one, origins) || (one.isOpen && credentials.source === "byoc"));
  return same.length > 0 && new Set([owner, ...same.flatMap(({ owners }) => [...owners.keys()])]).size > 1;
}
