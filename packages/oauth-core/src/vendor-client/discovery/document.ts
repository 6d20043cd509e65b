/**
 * What a vendor's metadata document says, taken only when it is the document of the issuer it was
 * asked for.
 */
import { processDiscoveryResponse } from "oauth4webapi";
import type { JsonObject, JsonValue } from "../../ports.ts";
import { defined } from "../../mechanics/defined.ts";
import { OAuthError } from "../../protocol/errors.ts";
import { requireEgressUrl } from "../../egress/url.ts";
import type { VendorClientDeps } from "../binding.ts";
import { invalidVendorResponse } from "../errors.ts";

/** What we take from metadata. Every URL has passed `requireEgressUrl`. */
export interface VendorMetadata {
  readonly authorizationEndpoint?: string;
  readonly tokenEndpoint?: string;
  readonly revocationEndpoint?: string;
  readonly registrationEndpoint?: string;
  readonly userinfoEndpoint?: string;
  readonly introspectionEndpoint?: string;
  readonly jwksUri?: string;
  readonly codeChallengeMethods?: readonly string[];
  readonly tokenEndpointAuthMethods?: readonly string[];
  readonly advertisesIss: boolean;
}

/** The library takes `https://a` and `https://a/` for one issuer; they are two. */
//= rfc8414#3.3
//= bar#DI-1
export async function requireMetadataOf(issuer: string, document: JsonObject): Promise<void> {
  if (typeof document.issuer !== "string")
    throw invalidVendorResponse("discovery: no issuer", { reason: "issuer_missing" });
  if (document.issuer !== issuer) {
    throw new OAuthError("vendor_response_invalid", "The metadata found is that of another issuer", {
      reason: "issuer_mismatch",
    });
  }
  await processDiscoveryResponse(new URL(issuer), Response.json(document));
}

/**
 * @throws OAuthError vendor_response_invalid when an endpoint is not one we would ask or send a
 *   browser to
 */
export function readMetadata(document: JsonObject, deps: VendorClientDeps): VendorMetadata {
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
    introspectionEndpoint: endpoint("introspection_endpoint"),
    jwksUri: endpoint("jwks_uri"),
  });
  const codeChallengeMethods = strings(document.code_challenge_methods_supported);
  const tokenEndpointAuthMethods = strings(document.token_endpoint_auth_methods_supported);
  return {
    ...endpoints,
    ...defined({ codeChallengeMethods, tokenEndpointAuthMethods }),
    advertisesIss: document.authorization_response_iss_parameter_supported === true,
  };
}

function strings(value: JsonValue | undefined): readonly string[] | undefined {
  return Array.isArray(value)
    ? value.filter((member: JsonValue): member is string => typeof member === "string")
    : undefined;
}

/** What must not be asked must not be sent to a browser either. */
//= bar#DI-2
export function requireEndpoint(url: string, name: string, { allowLoopback, allowCidrs = [] }: VendorClientDeps): URL {
  try {
    return requireEgressUrl(url, { allowLoopback, allowCidrs });
  } catch (cause) {
    throw invalidVendorResponse(`discovery: ${name} is not an acceptable URL`, { cause, reason: "endpoint_forbidden" });
  }
}
