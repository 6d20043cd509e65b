/**
 * A target becomes a vendor with endpoints, and it is decided how far that vendor is believed: its
 * tier, whether credentials of ours may be used there, and which network its endpoints may reach.
 * `planVendor` asks nobody, so that what is refused is refused before anything was sent;
 * `resolvePlan` discovers. Before it: vendor-target.ts. Called by vendor-choice.ts.
 */
import {
  defineVendor,
  expandTemplate,
  expandVendor,
  fillsRegistrableDomain,
  namesInHost,
  OAuthError,
  requireFit,
  requireKnownPlaceholders,
  type ResolvedVendor,
  templatesOf,
  type Vendor,
  type VendorClient,
  type VendorCredentials,
  withDefaults,
} from "@oauth-broker/oauth-core";
import { requireEgressUrl } from "@oauth-broker/oauth-core/egress";
import { CUSTOM_VENDOR, type VendorConfig } from "../config.ts";
import type { Deps } from "../deps.ts";
import { targetFields, type VendorTarget } from "./vendor-target.ts";

/**
 * 1: an entry at its own hosts. 3: everything a caller names. (2 were issuers of the caller's that
 * send `iss`; they are 3 now.)
 */
export type Tier = 1 | 3;

interface Overrides {
  readonly authorizationEndpoint?: string;
  readonly tokenEndpoint?: string;
}

export interface VendorPlan {
  /** As the caller gave it, with every placeholder, so that a default of tomorrow changes nothing about it. */
  readonly target: VendorTarget;
  /** The entry, or the custom vendor, with its templates filled. */
  readonly base: Vendor;
  /** Endpoints of the request that are not the base's own. Each has passed the egress rules. */
  readonly overrides: Overrides;
  /** No value of the request chose a host of the base. */
  readonly isVouchedFor: boolean;
  /** A value of the request can choose who answers. */
  readonly fillsDomain: boolean;
}

export interface ResolvedPlan {
  readonly vendor: ResolvedVendor;
  readonly tier: Tier;
  /** Reaches what this vendor may reach. */
  readonly vendorClient: VendorClient;
}

type PlanDeps = Pick<Deps, "issuer" | "allowLoopback">;

/** @throws OAuthError invalid_request naming a placeholder that is missing, unknown or does not fit, or for a forbidden endpoint */
export function planVendor(target: VendorTarget, entry: VendorConfig | undefined, deps: PlanDeps): VendorPlan {
  return entry === undefined ? planCustom(target, deps) : planEntry(target, entry, deps);
}

function planCustom(target: VendorTarget, deps: PlanDeps): VendorPlan {
  const { placeholders = {}, issuer, authorizationEndpoint, tokenEndpoint } = target;
  const given = { issuer, authorizationEndpoint, tokenEndpoint };
  const templates = Object.values(given).filter((template) => template !== undefined);
  requireKnownPlaceholders(placeholders, templates, {});
  const own = (template: string | undefined) =>
    template === undefined ? undefined : requireForeignUrl(expandTemplate(template, placeholders, {}), deps);
  const base = defineVendor({
    id: CUSTOM_VENDOR,
    name: "Custom vendor",
    ...defined({
      issuer: own(issuer),
      authorizationEndpoint: own(authorizationEndpoint),
      tokenEndpoint: own(tokenEndpoint),
    }),
  });
  return { target, base, overrides: {}, isVouchedFor: false, fillsDomain: true };
}

function planEntry(target: VendorTarget, entry: VendorConfig, deps: PlanDeps): VendorPlan {
  const { vendor, placeholders: specs } = entry;
  const { issuer, placeholders = {}, authorizationEndpoint, tokenEndpoint } = target;
  if (issuer !== undefined && issuer !== vendor.issuer)
    throw overrideRefused("issuer names another vendor: leave vendor out");
  const overridden = [authorizationEndpoint, tokenEndpoint].filter((template) => template !== undefined);
  const ofEntry = templatesOf(vendor, specs);
  const templates = [...ofEntry, ...overridden];
  requireKnownPlaceholders(placeholders, templates, specs);
  const values = withDefaults(placeholders, specs);
  requireFit(values, templates, specs);
  const base = expandVendor(vendor, values, specs);
  const own = (template: string | undefined, known: string | undefined) => {
    if (template === undefined) return undefined;
    const url = expandTemplate(template, values, specs);
    return url === known ? undefined : requireForeignUrl(url, deps);
  };
  const isChosen = (name: string) => specs[name]?.values === undefined && values[name] !== specs[name]?.default;
  const chosen = ofEntry.filter((template) => namesInHost(template).some(isChosen));
  for (const template of chosen) requireForeignUrl(expandTemplate(template, values, specs), deps);
  return {
    target: { vendor: target.vendor, ...targetFields({ ...target, placeholders: values }) },
    base,
    overrides: defined({
      authorizationEndpoint: own(authorizationEndpoint, base.authorizationEndpoint),
      tokenEndpoint: own(tokenEndpoint, base.tokenEndpoint),
    }),
    isVouchedFor: chosen.length === 0,
    fillsDomain: ofEntry.some((template) => fillsRegistrableDomain(template, specs)),
  };
}

/**
 * Credentials of the operator are for the endpoints the operator knows. Refused before anybody is asked.
 *
 * @throws OAuthError unauthorized_client
 */
//= bar#XA-2
export function requireOwnCredentials({ base, overrides, fillsDomain }: VendorPlan): void {
  if (fillsDomain) throw overrideRefused("This vendor needs credentials of your own: vendor_client_id");
  // A browser may be sent to another page of the vendor's; a code and a secret of ours go nowhere else at all.
  if (isForeign(overrides.authorizationEndpoint, base) || overrides.tokenEndpoint !== undefined) {
    throw overrideRefused("An endpoint of your own needs credentials of your own: vendor_client_id");
  }
}

function overrideRefused(description: string): OAuthError {
  return new OAuthError("unauthorized_client", description, { reason: "override_not_allowed" });
}

/** @throws OAuthError vendor_response_invalid, temporarily_unavailable when discovery fails */
export async function resolvePlan(
  { target, base, overrides, isVouchedFor, fillsDomain }: VendorPlan,
  credentials: VendorCredentials,
  { vendorClient: trusted, untrustedVendorClient: untrusted }: Pick<Deps, "vendorClient" | "untrustedVendorClient">,
): Promise<ResolvedPlan> {
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

/** Whether an endpoint of the request leaves the vendor's vetted hosts. */
function isForeign(endpoint: string | undefined, vendor: Vendor): boolean {
  return endpoint !== undefined && !vettedOrigins(vendor).includes(new URL(endpoint).origin);
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

/** Tokens of a vendor nobody vouches for never wait here. */
function parkingCodes(vendor: ResolvedVendor): ResolvedVendor {
  return vendor.redeemAt === "token" ? vendor : { ...vendor, redeemAt: "token" };
}

/** The entry may be one of a public client; a secret the caller brings is brought to be used. */
function withOwnSecret(base: Vendor, { source, clientSecret }: VendorCredentials): Vendor {
  const isUnused = source === "byoc" && clientSecret !== undefined && base.tokenEndpointAuthMethod === "none";
  return isUnused ? { ...base, tokenEndpointAuthMethod: "client_secret_basic" } : base;
}

function vettedOrigins({
  issuer,
  authorizationEndpoint,
  tokenEndpoint,
  refreshEndpoint,
  revocationEndpoint,
}: Vendor): string[] {
  return [issuer, authorizationEndpoint, tokenEndpoint, refreshEndpoint, revocationEndpoint].flatMap((url) => {
    const origin = URL.parse(url ?? "")?.origin;
    return origin === undefined || origin === "null" ? [] : [origin];
  });
}

/**
 * A URL of a request: https on port 443 of a public host, never ourselves. Operators' private networks do not count here.
 *
 * @throws OAuthError invalid_request
 */
//= bar#EG-7
function requireForeignUrl(url: string, { issuer, allowLoopback }: PlanDeps): string {
  const { origin } = requireEgressUrl(url, { allowLoopback });
  if (origin !== new URL(issuer).origin) return url;
  throw new OAuthError("invalid_request", "An endpoint must not be one of this broker", {
    reason: "endpoint_forbidden",
  });
}

function defined<T extends Record<string, string | undefined>>(values: T): { [K in keyof T]?: string } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: string;
  };
}
