/**
 * How far a vendor is trusted: its tier, which network its endpoints may reach, which fields of its
 * entry hold at endpoints that the caller names, and whose client the flow uses there. Performs
 * discovery.
 */
import { defined, OAuthError } from "@oauth-broker/oauth-core";
import type { VendorClient } from "@oauth-broker/oauth-core/vendor-client";
import { registrableDomainOf } from "@oauth-broker/oauth-core/egress";
import {
  oncePerObject,
  type ResolvedVendor,
  type Vendor,
  type VendorCredentials,
  withoutIssuer,
  withoutTokenRecipients,
  withSecret,
} from "@oauth-broker/oauth-core/registry";
import type { Deps } from "../deps.ts";
import type { CallersPart } from "./callers-part.ts";
import type { Overrides, VendorEndpoints } from "./endpoints.ts";
import { CUSTOM_VENDOR } from "./request.ts";

/**
 * 1: an entry at its own endpoints. 3: every vendor of which a caller names a part. (2 was an
 * issuer that the caller names and that sends `iss`; such issuers are 3 now.)
 */
type Tier = 1 | 3;

export interface TrustedVendor {
  readonly vendor: ResolvedVendor;
  readonly tier: Tier;
  /** What of it the caller named; absent at tier 1. */
  readonly callersPart?: CallersPart;
  /** The vendor client for this vendor, with the network it may reach. */
  readonly vendorClient: VendorClient;
}

export type TrustDeps = Pick<Deps, "vendorClient" | "tenantVendorClient" | "untrustedVendorClient" | "isProxied">;

/** @throws OAuthError vendor_response_invalid, temporarily_unavailable when discovery fails */
export async function resolveTrusted(
  endpoints: VendorEndpoints,
  credentials: VendorCredentials,
  deps: TrustDeps,
): Promise<TrustedVendor> {
  const { vendorClient: trusted, tenantVendorClient: ofTenants, untrustedVendorClient: untrusted, isProxied } = deps;
  const { target, base, overrides, isVouchedFor, fillsDomain } = endpoints;
  const ofRequest = fillsDomain || target.vendor === CUSTOM_VENDOR ? untrusted : ofTenants;
  const baseClient = isVouchedFor ? trusted : ofRequest;
  const asked = isVouchedFor ? trusted : withShortWaits(ofRequest);
  const hasOwnSecret = credentials.source === "byoc" && credentials.clientSecret !== undefined;
  const resolved = await asked.resolve(hasOwnSecret ? withSecret(base) : base);
  if (target.vendor === CUSTOM_VENDOR) {
    // Applies also to an issuer that names itself in every answer: it can make another vendor's
    // answer carry its name.
    return { vendor: parkingCodes(resolved), tier: 3, callersPart: "vendor", vendorClient: withShortWaits(untrusted) };
  }
  const foreign = foreignEndpoints(overrides, resolved);
  const vendor = withEndpoints(resolved, foreign);
  // Private networks are only for endpoints that the operator wrote down.
  const vendorClient = foreign.tokenEndpoint === undefined ? baseClient : untrusted;
  const callersPart = partOf(fillsDomain, foreign, leavesDomain(endpoints, resolved));
  if (callersPart === undefined) {
    return { vendor: isVouchedFor ? vendor : withoutOperatorsHeaders(vendor), tier: 1, vendorClient };
  }
  return {
    vendor: parkingCodes(withoutOperatorsHeaders(vendor)),
    tier: 3,
    callersPart,
    vendorClient: withShortWaits(isProxied ? untrusted : vendorClient),
  };
}

function partOf(fillsDomain: boolean, foreign: Overrides, leaves: boolean): CallersPart | undefined {
  if (fillsDomain) return "placeholder";
  if (Object.keys(foreign).length > 0) return "endpoint";
  //= bar#XA-4
  return leaves ? "metadata" : undefined;
}

/**
 * The endpoints of the request that are not, character for character, those of the vendor. Its own
 * hosts make no difference: on a tenant's host the tenant runs code, and could send the browser on
 * to an honest vendor (docs/decisions/0029).
 */
//= bar#XA-4
function foreignEndpoints(
  overrides: Overrides,
  vendor: Pick<Vendor, "authorizationEndpoint" | "tokenEndpoint">,
): Overrides {
  const { authorizationEndpoint, tokenEndpoint } = overrides;
  return {
    ...(authorizationEndpoint === vendor.authorizationEndpoint ? {} : defined({ authorizationEndpoint })),
    ...(tokenEndpoint === vendor.tokenEndpoint ? {} : defined({ tokenEndpoint })),
  };
}

/** What receives a browser, a code, a token or our secret there. */
const OF_METADATA = [
  "authorizationEndpoint",
  "tokenEndpoint",
  "revocationEndpoint",
  "introspectionEndpoint",
] as const satisfies readonly (keyof Vendor)[];

/**
 * Whether metadata of an issuer that the request filled names an endpoint at another domain: a
 * tenant may write its own.
 */
function leavesDomain({ base, fillsIssuer }: VendorEndpoints, resolved: ResolvedVendor): boolean {
  if (!fillsIssuer || base.issuer === undefined) return false;
  const domain = registrableDomainOf(base.issuer);
  return OF_METADATA.some((name) => {
    const url = resolved[name];
    return url !== undefined && url !== base[name] && registrableDomainOf(url) !== domain;
  });
}

/**
 * Keeps the vendor's dialect. Drops what belongs to the replaced endpoint: its issuer and keys, and
 * the further endpoints.
 */
function withEndpoints(resolved: ResolvedVendor, foreign: Overrides): ResolvedVendor {
  if (Object.keys(foreign).length === 0) return resolved;
  const located = foreign.tokenEndpoint === undefined ? resolved : withoutTokenRecipients(resolved);
  const vendor =
    foreign.authorizationEndpoint === undefined ? located : { ...withoutIssuer(located), issExpected: false };
  return { ...vendor, ...foreign };
}

/**
 * A header of token requests may be an operator's key: no endpoint of a caller's receives one,
 * and no tenant that the operator's file does not list.
 */
//= bar#BY-4
function withoutOperatorsHeaders(vendor: ResolvedVendor): ResolvedVendor {
  const { tokenHeaders: _headers, ...rest } = vendor;
  return rest;
}

/** Never parks tokens of a vendor that neither the registry nor the operator's file describes. */
function parkingCodes(vendor: ResolvedVendor): ResolvedVendor {
  return vendor.redeemAt === "token" ? vendor : { ...vendor, redeemAt: "token" };
}

/**
 * How long a vendor that a caller names may keep others waiting: a stranger's `Retry-After` of a day
 * would be repeated by every cache and client between us and the user.
 */
const MAX_SECONDS = 60;

/** The same client, whose outages say at most a minute. */
const withShortWaits = oncePerObject((client: VendorClient): VendorClient => ({
  ...client,
  resolve: (vendor) => shortened(client.resolve(vendor)),
  redeemCode: (...asked) => shortened(client.redeemCode(...asked)),
  refreshTokens: (...asked) => shortened(client.refreshTokens(...asked)),
  revokeToken: (...asked) => shortened(client.revokeToken(...asked)),
  revokeGrant: (...asked) => shortened(client.revokeGrant(...asked)),
  account: (...asked) => shortened(client.account(...asked)),
  checkAccessToken: (...asked) => shortened(client.checkAccessToken(...asked)),
  identify: (...asked) => shortened(client.identify(...asked)),
}));

async function shortened<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw error instanceof OAuthError && (error.retryAfterSeconds ?? 0) > MAX_SECONDS ? shorter(error) : error;
  }
}

function shorter(error: OAuthError): OAuthError {
  const { code, description, extras, detail, cause } = error;
  return new OAuthError(code, description, {
    ...extras,
    cause: cause ?? error,
    retryAfterSeconds: MAX_SECONDS,
    ...defined({ detail }),
  });
}
