/**
 * Exchanges a vendor's refresh token for fresh tokens. A caller that stores tokens holds a lease
 * in the meantime: one request, never repeated.
 */
import { formatScope } from "../../protocol/scope.ts";
import type { ResolvedVendor, VendorCredentials, VendorTokens } from "../../registry/vendor.ts";
import { type TokenDeps, validateTokenResponse } from "./validate-response.ts";
import { askForTokens } from "./request.ts";
import { renewLongLived } from "./long-lived.ts";
import type { TokenAnswer } from "./response.ts";
import { vendorCall } from "../errors.ts";
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
  const call = vendorCall("refresh", vendor, credentials, { spends: rotates, isRefresh: true });
  const signal = request.signal === undefined ? deps.deadline() : AbortSignal.any([deps.deadline(), request.signal]);
  const { refreshToken, scope = [], callbackData, expected: first } = request;
  const exchange = { vendor, credentials, call, signal };
  if (vendor.longLivedToken !== undefined) return renewLongLived(refreshToken, exchange, deps);
  const parameters = {
    ...repeated(vendor.refreshCallbackParams, callbackData),
    ...(scope.length === 0 ? {} : { scope: formatScope(scope, vendor.scopeSeparator) }),
    refresh_token: refreshToken,
    grant_type: "refresh_token",
  };
  const accept = async (answer: TokenAnswer): Promise<VendorTokens> => {
    // Whatever the entry says: a different refresh token in the response means that the vendor has
    // rotated.
    const spends = rotates || (answer.refreshToken ?? request.refreshToken) !== request.refreshToken;
    //= bar#RF-9
    return validateTokenResponse(answer, { ...exchange, call: { ...call, spends }, first }, deps);
  };
  return askForTokens(parameters, exchange, accept, deps);
}
