/**
 * What a client wants in the authorization request beyond the vendor itself: scope, hints, further parameters.
 */
import {
  isReservedAuthorizationParameter,
  OAuthError,
  type Parameters,
  parseScope,
  parseStringMap,
  type ResolvedVendor,
} from "@oauth-broker/oauth-core";

export interface AuthorizationWishes {
  readonly scope: readonly string[];
  readonly loginHint?: string;
  readonly prompt?: string;
  readonly resource?: string;
  readonly vendorParams?: Readonly<Record<string, string>>;
}

/** @throws OAuthError invalid_request, invalid_scope */
export function readWishes(parameters: Parameters, vendor: Pick<ResolvedVendor, "defaultScopes">): AuthorizationWishes {
  const scope = parameters.get("scope");
  const loginHint = parameters.get("login_hint");
  const prompt = parameters.get("prompt");
  const resource = parameters.get("resource");
  const vendorParams = parameters.get("vendor_params");
  return {
    scope: scope === undefined ? vendor.defaultScopes : parseScope(scope),
    ...(loginHint === undefined ? {} : { loginHint }),
    ...(prompt === undefined ? {} : { prompt }),
    ...(resource === undefined ? {} : { resource: requireResource(resource) }),
    ...(vendorParams === undefined ? {} : { vendorParams: requireVendorParams(vendorParams) }),
  };
}

//= rfc8707#2
function requireResource(resource: string): string {
  if (!URL.canParse(resource) || resource.includes("#")) {
    throw new OAuthError("invalid_request", "resource must be an absolute URI without fragment");
  }
  return resource;
}

/** Parameters with a place of their own in the pushed request: twice would be ambiguous. */
const HAVE_THEIR_OWN_PLACE: ReadonlySet<string> = new Set(["scope", "login_hint", "prompt", "resource"]);

/** Visible ASCII: what cuts a name short at one reader (NUL, a line break) would make it another parameter there. */
const PARAMETER_NAME = /^[\x21-\x7e]{1,128}$/;

//= bar#ST-4
function requireVendorParams(json: string): Record<string, string> {
  const wished = parseStringMap(json, "vendor_params");
  if (!Object.keys(wished).every((name) => PARAMETER_NAME.test(name))) {
    throw new OAuthError("invalid_request", "vendor_params has a name that is not visible ASCII");
  }
  const reserved = Object.keys(wished).find(
    (name) => isReservedAuthorizationParameter(name) || HAVE_THEIR_OWN_PLACE.has(name),
  );
  if (reserved !== undefined) {
    throw new OAuthError("invalid_request", "vendor_params holds a reserved parameter", {
      reason: "reserved_parameter",
    });
  }
  return wished;
}
