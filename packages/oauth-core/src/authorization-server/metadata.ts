/**
 * RFC 8414: the metadata we publish for clients. Every URL comes from the configured issuer, never
 * from a request.
 */
import { ASSERTION_ALGS } from "./client-assertion.ts";
import { CLIENT_AUTHENTICATION_METHODS } from "./client-authentication.ts";

type Endpoint = "authorization" | "pushedAuthorizationRequest" | "token" | "revocation";

/** Paths are appended to the issuer, which is published byte for byte. */
//= rfc8414#2
export function authorizationServerMetadata(
  issuer: string,
  paths: Readonly<Record<Endpoint, string>>,
): Record<string, unknown> {
  return {
    issuer,
    authorization_endpoint: issuer + paths.authorization,
    pushed_authorization_request_endpoint: issuer + paths.pushedAuthorizationRequest,
    //= rfc9126#5
    require_pushed_authorization_requests: true,
    token_endpoint: issuer + paths.token,
    token_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION_METHODS,
    token_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGS,
    revocation_endpoint: issuer + paths.revocation,
    revocation_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION_METHODS,
    revocation_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGS,
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    code_challenge_methods_supported: ["S256"],
    //= rfc9207#3
    authorization_response_iss_parameter_supported: true,
  };
}
