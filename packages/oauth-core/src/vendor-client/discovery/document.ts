/**
 * A vendor's metadata document: the well-known locations it is looked for at, the issuer it must
 * belong to, and what is taken from it.
 */
import { processDiscoveryResponse } from "oauth4webapi";
import type { JsonObject, JsonValue } from "../../ports.ts";
import { defined } from "../../mechanics/defined.ts";
import { OAuthError } from "../../protocol/errors.ts";
import { operatorsHosts, requireEgressUrl } from "../../egress/url.ts";
import { readObject, requireAnswer } from "../answer.ts";
import { METADATA_FIELDS, type MetadataField } from "../../registry/fields.ts";
import { wireName } from "../../registry/fields/shape.ts";
import type { VendorClientDeps } from "../binding.ts";
import { VENDOR_OPERATION_SECONDS } from "../deadline.ts";
import { invalidVendorResponse, translateVendorError, type VendorCall } from "../errors.ts";

const CALL: VendorCall = { what: "discovery", spends: false };

/** What we take from metadata. Every URL has passed `requireEgressUrl`. */
export interface VendorMetadata extends Readonly<Partial<Record<MetadataField, string>>> {
  readonly codeChallengeMethods?: readonly string[];
  readonly tokenEndpointAuthMethods?: readonly string[];
  /** It has no `jwks_uri`. */
  readonly lacksKeys?: true;
  readonly responseTypes?: readonly string[];
  readonly responseModes?: readonly string[];
  readonly idTokenAlgs?: readonly string[];
  /** What it requires of every authorization request. */
  readonly requires?: readonly ("pushed_requests_required" | "signed_requests_required")[];
  readonly advertisesIss: boolean;
}

/** Which document of an issuer is asked for first. */
export type FirstPlace = "openid-configuration" | "oauth-authorization-server";

/**
 * OpenID Connect's location first: its document usually says more. MCP clients begin with the
 * other. A location that has no document, one that is not metadata, or the metadata of another
 * issuer leads to the next location; an outage does not.
 */
//= oidc-discovery#4
//= rfc8414#3
function wellKnownUrls(issuer: URL, first: FirstPlace): string[] {
  const path = issuer.pathname.replace(/\/$/, "");
  const oidc = `${issuer.origin}${path}/.well-known/openid-configuration`;
  const oauth = `${issuer.origin}/.well-known/oauth-authorization-server${path}`;
  return [
    ...(first === "openid-configuration" ? [oidc, oauth] : [oauth, oidc]),
    ...(path === "" ? [] : [`${issuer.origin}/.well-known/openid-configuration${path}`]),
  ];
}

/**
 * @param issuer compared byte for byte with the document's
 * @throws OAuthError vendor_response_invalid, temporarily_unavailable
 */
export async function loadMetadata(issuer: string, deps: VendorClientDeps): Promise<VendorMetadata> {
  const found = await findMetadata(issuer, "openid-configuration", deps);
  if (found === undefined) throw nothingThere();
  return found;
}

function nothingThere(): OAuthError {
  return invalidVendorResponse("discovery: no metadata in any of the well-known places");
}

/**
 * @param issuer compared byte for byte with the document's
 * @returns undefined when the issuer answers at each well-known location that it has no document
 * @throws OAuthError vendor_response_invalid, also for answers that are not documents;
 *   temporarily_unavailable
 */
export async function findMetadata(
  issuer: string,
  first: FirstPlace,
  deps: VendorClientDeps,
): Promise<VendorMetadata | undefined> {
  const url = requireEndpoint(issuer, "issuer", deps);
  if (url.search !== "") throw invalidVendorResponse("discovery: the issuer has a query");
  const signal = deps.timer.timeout(VENDOR_OPERATION_SECONDS * 1000);
  let refused: { readonly error: unknown } | undefined;
  try {
    for (const address of wellKnownUrls(url, first)) {
      const document = await loadDocument(address, signal, deps);
      if (document === "missing") continue;
      const foreign =
        document === "unusable"
          ? (refused?.error ?? nothingThere())
          : await requireMetadataOf(issuer, document).catch((error: unknown) => error);
      if (foreign === undefined) return readMetadata(document as JsonObject, url, deps);
      refused = { error: foreign };
    }
    if (refused === undefined) return undefined;
    throw refused.error;
  } catch (error) {
    throw translateVendorError(error, CALL);
  }
}

/**
 * A refusal (4xx) says that there is no such document, or none for us: MCP clients take it so.
 *
 * @returns `unusable` for any other answer that is not a JSON object with status 200
 */
export async function loadDocument(
  address: string,
  signal: AbortSignal,
  { fetch, now }: VendorClientDeps,
): Promise<JsonObject | "missing" | "unusable"> {
  const response = await fetch(address, { headers: { accept: "application/json" }, redirect: "manual", signal });
  if (response.status === 429 || response.status >= 500) requireAnswer(response, CALL, now);
  if (response.status !== 200) return response.status >= 400 ? "missing" : "unusable";
  try {
    return await readObject(response, CALL);
  } catch (error) {
    if (error instanceof OAuthError && error.code === "vendor_response_invalid") return "unusable";
    throw error;
  }
}

/** The library treats `https://a` and `https://a/` as one issuer; they are two. */
//= rfc8414#3.3
//= bar#DI-1
export async function requireMetadataOf(issuer: string, document: JsonObject): Promise<void> {
  if (typeof document.issuer !== "string")
    throw invalidVendorResponse("discovery: no issuer", { reason: "issuer_missing" });
  //= bar#DI-1
  if (document.issuer !== issuer) {
    throw new OAuthError("vendor_response_invalid", "The metadata belongs to another issuer", {
      reason: "issuer_mismatch",
    });
  }
  await processDiscoveryResponse(new URL(issuer), Response.json(document));
}

/**
 * @throws OAuthError vendor_response_invalid when an endpoint is not one we would request or send a
 *   browser to
 */
function readMetadata(document: JsonObject, issuer: URL, deps: VendorClientDeps): VendorMetadata {
  const endpoint = (name: string): string | undefined => {
    const value = document[name];
    if (value === undefined || value === null || value === "") return undefined;
    if (typeof value !== "string") throw invalidVendorResponse(`discovery: ${name} is not a string`);
    //= bar#DI-2
    requireEndpoint(value, name, deps, issuer);
    return value;
  };
  const endpoints: Readonly<Partial<Record<MetadataField, string>>> = defined(
    Object.fromEntries(METADATA_FIELDS.map((name) => [name, endpoint(wireName(name))])),
  );
  const codeChallengeMethods = strings(document.code_challenge_methods_supported);
  const tokenEndpointAuthMethods = strings(document.token_endpoint_auth_methods_supported);
  const responseTypes = strings(document.response_types_supported);
  const responseModes = strings(document.response_modes_supported);
  const idTokenAlgs = strings(document.id_token_signing_alg_values_supported);
  //= rfc9126#5
  //= rfc9101#10.5
  const requires = [
    ...(document.require_pushed_authorization_requests === true ? (["pushed_requests_required"] as const) : []),
    ...(document.require_signed_request_object === true ? (["signed_requests_required"] as const) : []),
  ];
  return {
    ...endpoints,
    ...defined({ codeChallengeMethods, tokenEndpointAuthMethods, responseTypes, responseModes, idTokenAlgs }),
    ...(requires.length === 0 ? {} : { requires }),
    ...(endpoints.jwksUri === undefined ? { lacksKeys: true as const } : {}),
    advertisesIss: document.authorization_response_iss_parameter_supported === true,
  };
}

function strings(value: JsonValue | undefined): readonly string[] | undefined {
  return Array.isArray(value)
    ? value.filter((member: JsonValue): member is string => typeof member === "string")
    : undefined;
}

/**
 * A URL that we must not request must not be sent to a browser either.
 *
 * @param issuer whose document names it: at its host, if the operator wrote that down, any https
 *   port is. Absent for the issuer itself
 */
//= bar#DI-2
export function requireEndpoint(
  url: string,
  name: string,
  { allowLoopback, allowCidrs = [], operatorUrls = [] }: VendorClientDeps,
  issuer?: URL,
): URL {
  const hostname = URL.parse(url)?.hostname ?? "";
  const isOfIssuer = issuer === undefined || issuer.hostname === hostname;
  const anyPort = isOfIssuer && operatorsHosts(operatorUrls)(hostname);
  try {
    return requireEgressUrl(url, { allowLoopback, allowCidrs, anyPort });
  } catch (cause) {
    throw invalidVendorResponse(`discovery: ${name} is not an acceptable URL`, { cause, reason: "endpoint_forbidden" });
  }
}
