/**
 * Redeems the vendor's code for the vendor's tokens: one request, never repeated, and nothing is
 * passed on unverified.
 */
import { defined } from "../../mechanics/defined.ts";
import type { ResolvedVendor, VendorCredentials, VendorTokens } from "../../registry/vendor.ts";
import { type TokenDeps, validateTokenResponse } from "./validate-response.ts";
import { askedResource } from "../authorization/url.ts";
import { hasIdTokens, requireIssuer } from "../issuer.ts";
import { askForTokens } from "./request.ts";
import { exchangeForLongLived } from "./long-lived.ts";
import type { TokenAnswer } from "./response.ts";
import { invalidVendorResponse, vendorCall } from "../errors.ts";
import { repeated } from "../kept.ts";

/** The parameters of the token request for a code (RFC 6749 §4.1.3). */
export interface RedeemRequest {
  readonly code: string;
  /** The `iss` of the callback. The caller has checked it there; a given value is checked again. */
  readonly iss?: string;
  /** Our redirect URI at the vendor, the one of the authorization request. */
  readonly redirectUri: string;
  readonly codeVerifier?: string;
  readonly nonce?: string;
  /** As requested. */
  readonly scope: readonly string[];
  /** As in the authorization request: RFC 8707 requires it on both legs. */
  readonly resource?: string;
  /** The `state` of the callback, already verified; sent if the entry says so. */
  readonly state?: string;
  /** The further parameters of the callback that the entry declares. */
  readonly callbackData?: Readonly<Record<string, string>>;
}

/**
 * The code becomes tokens: one request, never a second one.
 *
 * @throws OAuthError temporarily_unavailable without `retry`: the vendor received nothing and the
 *   code is still valid; with `retry: "restart"`: the code is lost. Otherwise the vendor responded:
 *   invalid_grant, vendor_credentials_rejected, invalid_scope, vendor_response_invalid
 */
//= rfc6749#4.1.3
//= bar#VR-5
export async function redeemCode(
  vendor: ResolvedVendor,
  credentials: VendorCredentials,
  request: RedeemRequest,
  deps: TokenDeps,
): Promise<VendorTokens> {
  if (request.iss !== undefined) requireIssuer(vendor, request.iss);
  const call = vendorCall("code redemption", vendor, credentials, { spends: true, spendsOnRefusal: true });
  const exchange = { vendor, credentials, call, signal: deps.deadline(), nonce: { sent: request.nonce } };
  const accept = async (answer: TokenAnswer): Promise<VendorTokens> => {
    requireIdTokenWhereGranted(answer, vendor, request);
    return exchangeForLongLived(await validateTokenResponse(answer, exchange, deps), exchange, deps);
  };
  return askForTokens(parametersOf(request, vendor), exchange, accept, deps);
}

function parametersOf(
  { code, redirectUri, codeVerifier, resource, state, callbackData = {} }: RedeemRequest,
  vendor: ResolvedVendor,
): Record<string, string> {
  const asked = askedResource(vendor, resource);
  return {
    ...repeated(vendor.echoedCallbackParams, callbackData),
    //= rfc8707#2.2
    ...defined({ resource: asked }),
    ...defined({ state: vendor.repeatsState === true ? state : undefined }),
    redirect_uri: vendor.redirectUriAlias ?? redirectUri,
    code,
    // Some vendors refuse unknown parameters: their entries say `pkce: none`.
    ...defined({ code_verifier: codeVerifier }),
    grant_type: "authorization_code",
  };
}

/**
 * Also required when only the nonce ties the code to this flow: then a response without an ID token
 * proves nothing.
 */
//= oidc-core#3.1.3.3
function requireIdTokenWhereGranted(
  answer: TokenAnswer,
  vendor: ResolvedVendor,
  { scope, nonce, codeVerifier }: RedeemRequest,
): void {
  if (!hasIdTokens(vendor) || answer.idToken !== undefined) return;
  const isGranted = (answer.scope ?? scope).includes("openid");
  const isOnlyBinding = nonce !== undefined && codeVerifier === undefined;
  //= bar#ID-1
  if (isGranted || isOnlyBinding)
    throw invalidVendorResponse("code redemption: no ID token", { reason: "id_token_missing" });
}
