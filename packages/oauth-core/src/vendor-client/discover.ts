/**
 * Where a vendor's endpoints are, from its issuer alone: its published metadata, read strictly and kept for a while.
 * Runs when a flow starts, never when the process does. What an entry states itself wins over what metadata says.
 */
import { processDiscoveryResponse } from "oauth4webapi";
import type { JsonObject, JsonValue } from "../ports.ts";
import { OAuthError } from "../protocol/errors.ts";
import type { ResolvedVendor, TokenEndpointAuthMethod, Vendor } from "../vendors/vendor.ts";
import { requireEgressUrl } from "./egress-url.ts";
import { createRefreshingCache } from "./refreshing-cache.ts";
import { readObject, requireAnswer } from "./vendor-answer.ts";
import type { VendorClientDeps } from "./vendor-binding.ts";
import { invalidVendorResponse, translateVendorError, type VendorCall } from "./vendor-error.ts";

/** What we take from metadata. Every URL has passed `requireEgressUrl`. */
export interface VendorMetadata {
  readonly authorizationEndpoint?: string;
  readonly tokenEndpoint?: string;
  readonly revocationEndpoint?: string;
  readonly registrationEndpoint?: string;
  readonly userinfoEndpoint?: string;
  readonly jwksUri?: string;
  readonly codeChallengeMethods?: readonly string[];
  readonly tokenEndpointAuthMethods?: readonly string[];
  readonly advertisesIss: boolean;
}

export interface Discovery {
  /** @throws OAuthError vendor_response_invalid, temporarily_unavailable */
  readonly metadata: (issuer: string) => Promise<VendorMetadata>;
  /** The entry with its endpoints. The same object again as long as neither entry nor metadata change. */
  readonly resolve: (vendor: Vendor) => Promise<ResolvedVendor>;
}

const CALL: VendorCall = { what: "discovery", spends: false };

export function createDiscovery(deps: VendorClientDeps): Discovery {
  const documents = createRefreshingCache<VendorMetadata>({
    load: (issuer) => loadMetadata(issuer, deps),
    isOutage: (error) => error instanceof OAuthError && error.code === "temporarily_unavailable",
    now: deps.now,
  });
  const resolved = new WeakMap<Vendor, { readonly from: VendorMetadata | undefined; readonly vendor: ResolvedVendor }>();
  return {
    metadata: (issuer) => documents.get(issuer),
    resolve: async (vendor) => {
      const from = needsDiscovery(vendor) ? await documents.get(vendor.issuer) : undefined;
      const known = resolved.get(vendor);
      if (known !== undefined && known.from === from) return known.vendor;
      const made = resolveWith(vendor, from);
      resolved.set(vendor, { from, vendor: made });
      return made;
    },
  };
}

function needsDiscovery(vendor: Vendor): vendor is Vendor & { readonly issuer: string } {
  return vendor.issuer !== undefined && (vendor.authorizationEndpoint === undefined || vendor.tokenEndpoint === undefined);
}

function resolveWith(vendor: Vendor, metadata: VendorMetadata = { advertisesIss: false }): ResolvedVendor {
  const { codeChallengeMethods, advertisesIss, tokenEndpointAuthMethods } = metadata;
  const authorizationEndpoint = vendor.authorizationEndpoint ?? metadata.authorizationEndpoint;
  const tokenEndpoint = vendor.tokenEndpoint ?? metadata.tokenEndpoint;
  if (authorizationEndpoint === undefined || tokenEndpoint === undefined) {
    throw invalidVendorResponse("discovery: authorization or token endpoint is missing");
  }
  //= rfc9700#4.8.2
  //= bar#VR-2
  if (vendor.pkce !== "none" && codeChallengeMethods !== undefined && !codeChallengeMethods.includes(vendor.pkce)) {
    throw new OAuthError("vendor_response_invalid", `The vendor's metadata does not offer PKCE with ${vendor.pkce}`, {
      reason: "pkce_not_supported",
      detail: `${vendor.id}: offers ${codeChallengeMethods.length} methods`,
    });
  }
  const endpoints = {
    revocationEndpoint: vendor.revocationEndpoint ?? metadata.revocationEndpoint,
    registrationEndpoint: vendor.registrationEndpoint ?? metadata.registrationEndpoint,
    userinfoEndpoint: vendor.userinfoEndpoint ?? metadata.userinfoEndpoint,
    jwksUri: vendor.jwksUri ?? metadata.jwksUri,
  };
  return {
    ...vendor,
    ...defined(endpoints),
    authorizationEndpoint,
    tokenEndpoint,
    tokenEndpointAuthMethod: authMethod(vendor.tokenEndpointAuthMethod, tokenEndpointAuthMethods),
    //= rfc9207#2.4
    issExpected: vendor.issRequired ?? advertisesIss,
  };
}

/** Basic is what an entry says when it says nothing: a vendor that takes only the other way gets the other way. */
function authMethod(method: TokenEndpointAuthMethod, supported: readonly string[] | undefined): TokenEndpointAuthMethod {
  if (method !== "client_secret_basic" || supported === undefined || supported.includes(method)) return method;
  return supported.includes("client_secret_post") ? "client_secret_post" : method;
}

function defined<T extends Record<string, string | undefined>>(values: T): { [K in keyof T]?: string } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as { [K in keyof T]?: string };
}

/**
 * OpenID Connect's place first: its document usually says more. A place that has none, or something that is no metadata,
 * makes way for the next; an outage does not, and neither does a document of another issuer.
 */
//= oidc-discovery#4
//= rfc8414#3
function wellKnownUrls(issuer: URL): string[] {
  const path = issuer.pathname.replace(/\/$/, "");
  return [
    `${issuer.origin}${path}/.well-known/openid-configuration`,
    `${issuer.origin}/.well-known/oauth-authorization-server${path}`,
    ...(path === "" ? [] : [`${issuer.origin}/.well-known/openid-configuration${path}`]),
  ];
}

async function loadMetadata(issuer: string, deps: VendorClientDeps): Promise<VendorMetadata> {
  const url = requireEndpoint(issuer, "issuer", deps);
  if (url.search !== "") throw invalidVendorResponse("discovery: the issuer has a query");
  try {
    let document: JsonObject | undefined;
    for (const address of wellKnownUrls(url)) {
      document = await loadDocument(address, deps);
      if (document !== undefined) break;
    }
    if (document === undefined) throw invalidVendorResponse("discovery: no metadata in any of the well-known places");
    await requireMetadataOf(issuer, document);
    return readMetadata(document, deps);
  } catch (error) {
    throw translateVendorError(error, CALL);
  }
}

/** @returns undefined when there is no metadata at this address */
async function loadDocument(address: string, { fetch, now }: VendorClientDeps): Promise<JsonObject | undefined> {
  const response = await fetch(address, { headers: { accept: "application/json" }, redirect: "manual" });
  if (response.status === 429 || response.status >= 500) requireAnswer(response, CALL, now);
  if (response.status !== 200) return undefined;
  try {
    return await readObject(response, CALL);
  } catch (error) {
    if (error instanceof OAuthError && error.code === "vendor_response_invalid") return undefined;
    throw error;
  }
}

/** The library takes `https://a` and `https://a/` for one issuer; they are two. */
//= rfc8414#3.3
//= bar#DI-1
export async function requireMetadataOf(issuer: string, document: JsonObject): Promise<void> {
  if (document.issuer !== issuer) {
    throw new OAuthError("vendor_response_invalid", "The metadata found is that of another issuer", { reason: "issuer_mismatch" });
  }
  await processDiscoveryResponse(new URL(issuer), Response.json(document));
}

function readMetadata(document: JsonObject, deps: VendorClientDeps): VendorMetadata {
  const endpoint = (name: string): string | undefined => {
    const value = document[name];
    if (value === undefined || value === null || value === "") return undefined;
    if (typeof value !== "string") throw invalidVendorResponse(`discovery: ${name} is not a string`);
    requireEndpoint(value, name, deps);
    return value;
  };
  const endpoints = defined({
    authorizationEndpoint: endpoint("authorization_endpoint"),
    tokenEndpoint: endpoint("token_endpoint"),
    revocationEndpoint: endpoint("revocation_endpoint"),
    registrationEndpoint: endpoint("registration_endpoint"),
    userinfoEndpoint: endpoint("userinfo_endpoint"),
    jwksUri: endpoint("jwks_uri"),
  });
  const codeChallengeMethods = strings(document.code_challenge_methods_supported);
  const tokenEndpointAuthMethods = strings(document.token_endpoint_auth_methods_supported);
  return {
    ...endpoints,
    advertisesIss: document.authorization_response_iss_parameter_supported === true,
    ...(codeChallengeMethods === undefined ? {} : { codeChallengeMethods }),
    ...(tokenEndpointAuthMethods === undefined ? {} : { tokenEndpointAuthMethods }),
  };
}

function strings(value: JsonValue | undefined): readonly string[] | undefined {
  return Array.isArray(value) ? value.filter((member: JsonValue): member is string => typeof member === "string") : undefined;
}

/** What must not be asked must not be sent to a browser either. */
//= bar#DI-2
function requireEndpoint(url: string, name: string, { allowLoopback, allowCidrs = [] }: VendorClientDeps): URL {
  try {
    return requireEgressUrl(url, { allowLoopback, allowCidrs });
  } catch (cause) {
    throw invalidVendorResponse(`discovery: ${name} is not an acceptable URL`, { cause, reason: "endpoint_forbidden" });
  }
}
