/**
 * Vendors without refresh tokens, whose access tokens are exchanged for long-lived ones that renew
 * themselves (`longLivedToken`). Token and client secret are in the query of a GET, as these vendors
 * require: no error and no log line has a URL. Called by redeem.ts and refresh.ts.
 */
import { defined } from "../../mechanics/defined.ts";
import { isOutage, OAuthError } from "../../protocol/errors.ts";
import type { VendorTokens } from "../../registry/vendor.ts";
import { translateVendorError, type VendorCall } from "../errors.ts";
import { ownRequest } from "../own-request.ts";
import { readTokenAnswer } from "./response.ts";
import { filledWith } from "./revoke.ts";
import { type TokenDeps, type TokenExchange, validateTokenResponse } from "./validate-response.ts";

/**
 * The code is spent, and the short-lived token is good: a failure here loses neither. Then the
 * answer has the short-lived token, which a refresh exchanges, and `long_lived_token_error`.
 *
 * @param tokens of the code, validated
 * @returns them unchanged if the vendor has no long-lived tokens
 */
export async function exchangeForLongLived(
  tokens: VendorTokens,
  exchange: TokenExchange,
  deps: TokenDeps,
): Promise<VendorTokens> {
  const { longLivedToken: how } = exchange.vendor;
  if (how === undefined) return tokens;
  const { nonce: _nonce, ...ofGrant } = exchange;
  const { spendsOnRefusal: _, ...ofCode } = exchange.call;
  const call: VendorCall = { ...ofCode, what: "exchange for a long-lived token", spends: false };
  const { accessToken, expiresInSeconds, ...rest } = tokens;
  try {
    const longLived = await ask(accessToken, how.endpoint, how.exchange, { ...ofGrant, call }, deps);
    return { ...rest, ...longLived, vendorData: { ...rest.vendorData, ...longLived.vendorData } };
  } catch (error) {
    deps.onLesserAnswer?.("vendor_token_short_lived", exchange.vendor);
    const code = error instanceof OAuthError ? error.code : "server_error";
    const vendorData = { ...tokens.vendorData, long_lived_token_error: code };
    return { ...tokens, vendorData, ...renewing(accessToken, expiresInSeconds) };
  }
}

/**
 * @param token the long-lived one; or one that could not be exchanged when it was issued, which the
 *   vendor refuses to renew, and exchanges now
 * @throws OAuthError as refreshTokens
 */
export async function renewLongLived(token: string, exchange: TokenExchange, deps: TokenDeps): Promise<VendorTokens> {
  const { longLivedToken: how, refreshEndpoint, tokenEndpoint } = exchange.vendor;
  if (how === undefined) throw new TypeError("the vendor has no long-lived tokens");
  try {
    return await ask(token, refreshEndpoint ?? tokenEndpoint, how.renewal ?? how.exchange, exchange, deps);
  } catch (error) {
    if (how.renewal === undefined || isOutage(error)) throw error;
    return ask(token, how.endpoint, how.exchange, exchange, deps).catch(() => {
      throw error;
    });
  }
}

/** @returns the answer's token, as access token and as what renews it */
async function ask(
  token: string,
  endpoint: string,
  parameters: Readonly<Record<string, string>>,
  exchange: TokenExchange,
  deps: TokenDeps,
): Promise<VendorTokens> {
  const { vendor, credentials, call, signal } = exchange;
  const { fetch, now, onLesserAnswer } = deps;
  const url = new URL(endpoint);
  for (const [name, value] of Object.entries(filledWith(token, credentials, parameters)))
    url.searchParams.set(name, value);
  try {
    const response = await fetch(url.href, { ...ownRequest("GET", vendor.tokenHeaders), signal });
    const answer = await readTokenAnswer(response, vendor, call, { now, ...defined({ onLesserAnswer }) });
    const tokens = await validateTokenResponse(answer, exchange, deps);
    return { ...tokens, ...renewing(tokens.accessToken, tokens.expiresInSeconds) };
  } catch (error) {
    throw translateVendorError(error, call);
  }
}

function renewing(refreshToken: string, refreshExpiresInSeconds: number | undefined): Partial<VendorTokens> {
  return { refreshToken, ...defined({ refreshExpiresInSeconds }) };
}
