/**
 * POST /token with grant_type=authorization_code and the platform's callback: the platform posts
 * the vendor's own code with the verifier of PKCE #1; the vendor's tokens are stored for the user,
 * and the platform gets our tokens. Before it: authorize.ts, and the vendor's redirect to the
 * platform. The client is authenticated.
 */
import { defined, OAuthError, toOAuthError, withoutRestart, withRestart } from "@oauth-broker/oauth-core";
import { deriveCodeChallenge, type Parameters, parseCodeVerifier } from "@oauth-broker/oauth-core/protocol";
import type { FlowSecrets } from "@oauth-broker/oauth-core/brokered-code";
import type { HostedClient } from "../clients/client.ts";
import type { HostedDeps } from "../deps.ts";
import { openSession } from "../links/link-user.ts";
import { requestedScope } from "./narrow-request.ts";
import { requireOwnResource } from "../../resource/paths.ts";
import type { IssuedTokens } from "../sessions/token-pair.ts";
import { claimCode, recordSession, releaseCode, type VendorCode } from "./vendor-code.ts";
import { vendorSecrets } from "../authorization/vendor-secrets.ts";

/**
 * @throws OAuthError invalid_grant, invalid_request, invalid_target; the translated error of the
 *   vendor
 */
export async function redeemVendorCode(
  parameters: Parameters,
  client: HostedClient,
  deps: HostedDeps,
): Promise<IssuedTokens> {
  const { vendorClient, settings } = deps;
  const { scopes } = settings.vendor;
  // 1. wrong: the code stays usable
  const redirectUri = requireSameRedirectUri(parameters, client);
  // 2. wrong: the code stays usable
  requireOwnResource(parameters, settings);
  // 3. malformed verifier: stays usable
  const code = readCode(parameters);
  // 4. where to ask; nothing is spent yet
  const vendor = await vendorClient.resolve(settings.vendor.vendor);
  // 5. PKCE #2 of this very verifier
  const secrets = await vendorSecrets(code.codeChallenge, vendor, scopes, deps);
  // 6. less than all, if it was noted
  const scope = await requestedScope(code.codeChallenge, deps);
  // 7. of any number of tries one goes on
  await claimCode(code, deps);
  // 8. the vendor checks PKCE #2
  const { codeVerifier, nonce } = secrets;
  const request = { code: code.code, redirectUri, scope, ...defined({ codeVerifier, nonce }) };
  const tokens = await vendorClient
    .redeemCode(vendor, settings.vendor.credentials, request)
    .catch((thrown: unknown) => release(thrown, code, secrets, deps));
  const redeemed = { tokens, vendor, requestedScope: scope };
  // 9. who it is; tokens kept, sealed; a session
  const started = await openSession(redeemed, client, deps);
  // 10. a second use of the code ends it
  await recordSession(code, started.session.id, deps);
  return started.tokens;
}

//= rfc6749#4.1.3
//= bar#AS-6
function requireSameRedirectUri(parameters: Parameters, { redirectUris }: HostedClient): string {
  // OAuth 2.1 §10.2: PKCE is in its place, and this client has one.
  const redirectUri = parameters.get("redirect_uri") ?? redirectUris[0];
  if (redirectUri !== undefined && redirectUris.includes(redirectUri)) return redirectUri;
  throw new OAuthError("invalid_grant", "redirect_uri differs from that of the authorization request");
}

//= bar#AS-3
function readCode(parameters: Parameters): VendorCode {
  const code = parameters.require("code");
  const codeVerifier = parseCodeVerifier(parameters.get("code_verifier"));
  return { code, codeChallenge: deriveCodeChallenge(codeVerifier) };
}

/**
 * When no tokens were issued the claim is released: the vendor decides whether the code is still
 * valid. A lost response gave no session, so a second attempt does no harm.
 */
//= bar#VR-5
async function release(thrown: unknown, code: VendorCode, secrets: FlowSecrets, deps: HostedDeps): Promise<never> {
  const isReleased = await releaseCode(code, deps);
  const error = toOAuthError(thrown);
  throw isReleased ? toInvalidGrant(withoutRestart(error), secrets) : withRestart(error);
}

/**
 * Without PKCE only the nonce binds the code to its verifier: an ID token of another flow means a
 * wrong verifier.
 */
function toInvalidGrant(error: OAuthError, { codeVerifier, nonce }: FlowSecrets): OAuthError {
  const isTiedByNonce = codeVerifier === undefined && nonce !== undefined;
  if (!isTiedByNonce || error.code !== "vendor_response_invalid") return error;
  return new OAuthError("invalid_grant", "The code was issued for another code_verifier", { cause: error });
}
