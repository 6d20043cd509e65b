/**
 * The client metadata we send when we register at a vendor. Built from our own configuration and
 * the vendor's entry alone: nothing in the request can get in.
 */
import type { JsonObject } from "../../ports.ts";
import { FIELDS } from "../../registry/fields.ts";
import type { TokenEndpointAuthMethod, Vendor } from "../../registry/vendor.ts";

const CLIENT_NAME = "OAuth broker";

/**
 * @param redirectUri our callback, the same at every vendor
 * @param authMethods as the vendor's metadata lists them
 */
//= rfc7591#2
//= bar#DC-1
export function clientMetadata(
  { tokenEndpointAuthMethod, defaultScopes }: Vendor,
  redirectUri: string,
  authMethods: readonly string[] | undefined,
): JsonObject {
  return {
    client_name: CLIENT_NAME,
    redirect_uris: [redirectUri],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: chooseAuthMethod(tokenEndpointAuthMethod, authMethods),
    // Some vendors refuse a registration without it.
    application_type: "web",
    // Space-separated here, even if the vendor expects otherwise in authorization requests.
    ...(defaultScopes.length === 0 ? {} : { scope: defaultScopes.join(" ") }),
  };
}

/**
 * A client is bound to the authentication method it registered with, so this is the one flows will
 * use: the entry's, unless the vendor lists only others. A public client is the last resort.
 */
function chooseAuthMethod(
  method: TokenEndpointAuthMethod,
  supported: readonly string[] | undefined,
): TokenEndpointAuthMethod {
  if (supported === undefined || supported.includes(method)) return method;
  return FIELDS.tokenEndpointAuthMethod.values.find((other) => supported.includes(other)) ?? method;
}
