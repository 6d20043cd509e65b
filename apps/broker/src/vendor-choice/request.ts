/**
 * Reads the vendor parameters of a request: an entry's id, values for its {placeholders}, the
 * caller's own endpoints (manual mode), the caller's own credentials (BYOC), scope and further
 * parameters of the authorization request. Reads and refuses; sends no request. The target is kept
 * in the flow record and in `connection`; neither holds a secret in plaintext.
 */
import { defined, OAuthError, Secret } from "@oauth-broker/oauth-core";
import {
  isReservedAuthorizationParameter,
  type ParameterNames,
  type Parameters,
  parseScope,
  parseStringMap,
} from "@oauth-broker/oauth-core/protocol";
import type { ResolvedVendor, VendorCredentials } from "@oauth-broker/oauth-core/registry";

/**
 * The id of vendors that a request describes. It may be in a client's list of vendors, and no
 * entry may have it.
 */
export const CUSTOM_VENDOR = "custom";

export interface VendorTarget {
  /** An entry's id, or `custom`. */
  readonly vendor: string;
  readonly placeholders?: Readonly<Record<string, string>>;
  /**
   * Manual mode: the endpoints as the caller wrote them, {placeholders} included. Never an issuer
   * beside an endpoint.
   */
  readonly issuer?: string;
  readonly authorizationEndpoint?: string;
  readonly tokenEndpoint?: string;
}

/** All that a request says of a vendor, and to it. */
export interface VendorRequest {
  readonly target: VendorTarget;
  /** BYOC. */
  readonly ownCredentials: VendorCredentials | undefined;
  readonly asked: AskedParameters;
}

/** @throws OAuthError invalid_request, invalid_scope, unauthorized_client */
export function readVendorRequest(parameters: Parameters): VendorRequest {
  return {
    ownCredentials: readOwnCredentials(parameters),
    target: readTarget(parameters),
    asked: readAskedParameters(parameters),
  };
}

/** Copies the fields that are kept and drops everything else in the object. */
export function targetFields(target: VendorTarget): Omit<VendorTarget, "vendor"> {
  const { placeholders = {}, issuer, authorizationEndpoint, tokenEndpoint } = target;
  const named = Object.keys(placeholders).length === 0 ? undefined : placeholders;
  return defined({ placeholders: named, issuer, authorizationEndpoint, tokenEndpoint });
}

/**
 * Treats an empty parameter as absent. `vendor` may be left out when an issuer or both endpoints
 * name it.
 *
 * @throws OAuthError invalid_request; unauthorized_client for an issuer beside an endpoint
 */
export function readTarget(parameters: Parameters): VendorTarget {
  const issuer = parameters.get("issuer");
  const authorizationEndpoint = parameters.get("authorization_endpoint");
  const tokenEndpoint = parameters.get("token_endpoint");
  //= bar#XA-3
  if (issuer !== undefined && (authorizationEndpoint ?? tokenEndpoint) !== undefined) {
    throw new OAuthError(
      "unauthorized_client",
      "With an issuer, endpoints come from its metadata alone: leave out either the issuer or the endpoints",
      { reason: "endpoint_not_from_issuer" },
    );
  }
  const saysWho = issuer !== undefined || (authorizationEndpoint !== undefined && tokenEndpoint !== undefined);
  const vendor = parameters.get("vendor") ?? (saysWho ? CUSTOM_VENDOR : parameters.require("vendor"));
  if (vendor === CUSTOM_VENDOR && !saysWho) {
    throw new OAuthError(
      "invalid_request",
      "A custom vendor needs an issuer, or authorization_endpoint and token_endpoint",
    );
  }
  const placeholders = readPlaceholders(parameters);
  return { vendor, ...defined({ placeholders, issuer, authorizationEndpoint, tokenEndpoint }) };
}

/** An empty value is absent here too, and so is an empty object. */
export function readPlaceholders(parameters: Parameters): Record<string, string> | undefined {
  const json = parameters.get("placeholders");
  if (json === undefined) return undefined;
  const given = Object.entries(parseStringMap(json, "placeholders")).filter(([, value]) => value !== "");
  return given.length === 0 ? undefined : Object.fromEntries(given);
}

/** The same checks as for an operator's credentials: no vendor issues control characters, or blanks at the edges. */
const CREDENTIAL = /^[^\p{Cc}]{1,2048}$/u;
const EDGES = /^[\s"'`]|[\s"'`]$/u;

/**
 * @returns the caller's own credentials; without a secret, those of a public client
 * @throws OAuthError invalid_request for a secret without its client id
 */
export function readOwnCredentials(parameters: Parameters): VendorCredentials | undefined {
  const clientId = parameters.get("vendor_client_id");
  const clientSecret = parameters.get("vendor_client_secret");
  if (clientId === undefined) {
    if (clientSecret === undefined) return undefined;
    throw new OAuthError("invalid_request", "vendor_client_secret needs vendor_client_id");
  }
  for (const [name, value] of Object.entries({ vendor_client_id: clientId, vendor_client_secret: clientSecret })) {
    if (value === undefined) continue;
    if (!(CREDENTIAL.test(value) && value.isWellFormed())) {
      throw new OAuthError("invalid_request", `${name} has too many characters, or a control character`);
    }
    if (EDGES.test(value)) {
      throw new OAuthError("invalid_request", `${name} must not begin or end with white space or a quotation mark`);
    }
  }
  return ownCredentials(clientId, clientSecret);
}

export function ownCredentials(clientId: string, clientSecret: string | undefined): VendorCredentials {
  // The client id is text of the caller, and ids of credentials are logged.
  return { id: "byoc", source: "byoc", clientId, ...defined({ clientSecret: Secret.of(clientSecret) }) };
}

/** What the authorization request says, before the vendor is known. */
export interface AskedParameters {
  readonly scope?: readonly string[];
  readonly loginHint?: string;
  readonly prompt?: string;
  readonly resource?: string;
  readonly vendorParams?: Readonly<Record<string, string>>;
}

/** The same for one vendor. */
export interface AuthorizationParameters extends AskedParameters {
  readonly scope: readonly string[];
}

const ASKED = ["scope", "login_hint", "prompt", "resource", "vendor_params"] as const;

/** @throws OAuthError invalid_request, invalid_scope */
export function readAskedParameters(parameters: Parameters): AskedParameters {
  const values = ASKED.map((name) => parameters.get(name));
  requireShort(values);
  const [scope, loginHint, prompt, resource, vendorParams] = values;
  return defined({
    scope: scope === undefined ? undefined : parseScope(scope),
    loginHint,
    prompt,
    resource: resource === undefined ? undefined : requireResource(resource),
    vendorParams: vendorParams === undefined ? undefined : readVendorParams(vendorParams),
  });
}

/**
 * @returns with the vendor's own scopes if the request names none
 * @throws OAuthError invalid_request for a parameter that only the broker sets at this vendor
 */
//= bar#ST-4
export function parametersFor(
  vendor: Pick<ResolvedVendor, "defaultScopes"> & ParameterNames,
  asked: AskedParameters,
): AuthorizationParameters {
  const names = Object.keys(asked.vendorParams ?? {});
  if (names.some((name) => isReservedAuthorizationParameter(name, vendor, DEDICATED_PARAMETERS))) {
    throw new OAuthError("invalid_request", "vendor_params holds a reserved parameter", {
      reason: "reserved_parameter",
    });
  }
  return { ...asked, scope: asked.scope ?? vendor.defaultScopes };
}

/** What a browser takes as a URL, and servers as a header, less what the broker adds. */
const MOST_CHARACTERS = 8_192;

function requireShort(values: readonly (string | undefined)[]): void {
  const characters = values.reduce((sum, value = "") => sum + value.length, 0);
  if (characters <= MOST_CHARACTERS) return;
  const names = "scope, login_hint, prompt, resource and vendor_params";
  throw new OAuthError("invalid_request", `${names} have more than ${MOST_CHARACTERS} characters together`);
}

/** A scheme, and the characters of RFC 3986 but for `#`: a URL parser also takes spaces and letters of any script. */
const ABSOLUTE_URI = /^[a-z][a-z\d+.-]*:[\w.~:/?@!$&'()*+,;=%[\]-]+$/i;

//= rfc8707#2
function requireResource(resource: string): string {
  if (!URL.canParse(resource) || !ABSOLUTE_URI.test(resource)) {
    throw new OAuthError("invalid_request", "resource must be an absolute URI without fragment");
  }
  return resource;
}

/** Parameters with their own place in the pushed request: a second value would be ambiguous. */
const DEDICATED_PARAMETERS: ReadonlySet<string> = new Set(["scope", "login_hint", "prompt", "resource"]);

/**
 * Visible ASCII only: a character that ends a name early for one parser (NUL, a line break) would
 * make it another parameter there.
 */
const PARAMETER_NAME = /^[\x21-\x7e]{1,128}$/;

//= bar#ST-4
function readVendorParams(json: string): Record<string, string> {
  const given = parseStringMap(json, "vendor_params");
  if (Object.keys(given).every((name) => PARAMETER_NAME.test(name))) return given;
  throw new OAuthError("invalid_request", "vendor_params has a name that is not visible ASCII");
}
