/**
 * Exchanges a vendor's refresh token for fresh tokens. A caller that stores tokens holds a lease
 * in the meantime: one request, never repeated.
 */
import { formatScope } from "../../protocol/scope.ts";
import type { ResolvedVendor, VendorCredentials, VendorTokens } from "../../registry/vendor.ts";
import { type TokenDeps, validateTokenResponse } from "./validate-response.ts";
import { askForTokens, type Asking } from "./request.ts";
import { renewLongLived } from "./long-lived.ts";
import { refuse } from "./discard-refused.ts";
import type { SeenTokens, TokenAnswer } from "./response.ts";
import type { VendorCall } from "../errors.ts";
import { repeated } from "../kept.ts";

/** The parameters of a refresh (RFC 6749 §6), and what the answer is held against. */
export interface RefreshRequest {
  readonly refreshToken: string;
  readonly scope?: readonly string[];
  /** What was kept of the callback, as `keptOf` returned it. */
  readonly callbackData?: Readonly<Record<string, string>>;
  /**
   * The subject of the first ID token: a refreshed one must name the same. One that is merely old
   * is left out of the answer.
   */
  readonly expected?: { readonly issuer: string; readonly subject: string };
  /** The signal of a caller whose lease may end before this call does. */
  readonly signal?: AbortSignal;
}

/**
 * @returns the new tokens; without a refresh token when the vendor sent none, and then the old
 *   token stays valid
 * @throws OAuthError as redeemCode; `retry: "restart"` only if the vendor is known to rotate, or
 *   if its response is refused and shows that it has rotated
 */
//= rfc6749#6
export async function refreshTokens(
  vendor: ResolvedVendor,
  credentials: VendorCredentials,
  request: RefreshRequest,
  deps: TokenDeps,
): Promise<VendorTokens> {
  const rotates = vendor.rotatesRefreshTokens === true;
  const asked: VendorCall = {
    what: "refresh",
    spends: rotates,
    isRefresh: true,
    credentialsSource: credentials.source,
    errors: vendor.tokenErrors,
  };
  const signal = request.signal === undefined ? deps.deadline() : AbortSignal.any([deps.deadline(), request.signal]);
  if (vendor.longLivedToken !== undefined)
    return renewLongLived(request.refreshToken, { vendor, credentials, call: asked, signal }, deps);
  let seen: SeenTokens | undefined;
  const onRefused = (shown: SeenTokens): void => void (seen = shown);
  try {
    const answer = await requestTokens(
      vendor,
      credentials,
      request,
      { call: asked, leg: "refresh", signal, onRefused },
      deps,
    );
    seen = answer;
    // Whatever the entry says: a different refresh token in the response means that the vendor has
    // rotated.
    const spends = rotates || (answer.refreshToken ?? request.refreshToken) !== request.refreshToken;
    //= bar#RF-9
    const call: VendorCall = { ...asked, spends };
    const exchange = { vendor, credentials, call, signal, first: request.expected };
    return await validateTokenResponse(answer, exchange, deps);
  } catch (error) {
    if (seen === undefined) throw error;
    throw refuse(error, { vendor, credentials, seen, sentRefreshToken: request.refreshToken }, deps);
  }
}

async function requestTokens(
  vendor: ResolvedVendor,
  credentials: VendorCredentials,
  { refreshToken, scope = [], callbackData }: RefreshRequest,
  asking: Asking,
  deps: TokenDeps,
): Promise<TokenAnswer> {
  const parameters = {
    ...repeated(vendor.refreshCallbackParams, callbackData),
    ...(scope.length === 0 ? {} : { scope: formatScope(scope, vendor.scopeSeparator) }),
    refresh_token: refreshToken,
    grant_type: "refresh_token",
  };
  return askForTokens(parameters, vendor, credentials, asking, deps);
}
