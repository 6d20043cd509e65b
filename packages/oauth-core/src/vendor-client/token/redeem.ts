/**
 * Redeems the vendor's code for the vendor's tokens: one request, never repeated, and nothing is
 * passed on unverified.
 */
import { defined } from "../../mechanics/defined.ts";
import type { ResolvedVendor, VendorCredentials, VendorTokens } from "../../vendors/vendor.ts";
import { type TokenDeps, validateTokenResponse } from "./validate.ts";
import { askedResource } from "../authorization/url.ts";
import { hasIdTokens, requireIssuer } from "../issuer.ts";
import { requestToken } from "./request.ts";
import { readTokenAnswer, type TokenAnswer } from "./response.ts";
import { invalidVendorResponse, translateVendorError, type VendorCall } from "../errors.ts";
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
  /** As in the authorization request: RFC 8707 wants it on both legs. */
  readonly resource?: string;
  /** The `state` of the callback, already verified; sent where the entry says so. */
  readonly state?: string;
  /** The further parameters of the callback that the entry declares. */
  readonly callbackData?: Readonly<Record<string, string>>;
}

/**
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
  const call: VendorCall = {
    what: "code redemption",
    spends: true,
    spendsOnRefusal: true,
    credentialsSource: credentials.source,
    errors: vendor.tokenErrors,
  };
  if (request.iss !== undefined) requireIssuer(vendor, request.iss);
  const signal = deps.deadline();
  const answer = await requestTokens(vendor, credentials, request, { call, signal }, deps);
  try {
    requireIdTokenWhereGranted(answer, vendor, request);
    return await validateTokenResponse(
      answer,
      { vendor, credentials, call, signal, nonce: { sent: request.nonce } },
      deps,
    );
  } catch (error) {
    deps.discard(vendor, credentials, answer);
    throw error;
  }
}

async function requestTokens(
  vendor: ResolvedVendor,
  credentials: VendorCredentials,
  { code, redirectUri, codeVerifier, resource, state, callbackData = {} }: RedeemRequest,
  { call, signal }: { readonly call: VendorCall; readonly signal: AbortSignal },
  { bindings, now }: TokenDeps,
): Promise<TokenAnswer> {
  const asked = askedResource(vendor, resource);
  const parameters = {
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
  try {
    const response = await requestToken(parameters, vendor, credentials, { leg: "code", signal }, bindings);
    return await readTokenAnswer(response, vendor, call, now);
  } catch (error) {
    throw translateVendorError(error, call);
  }
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
  if (isGranted || isOnlyBinding)
    throw invalidVendorResponse("code redemption: no ID token", { reason: "id_token_missing" });
}
