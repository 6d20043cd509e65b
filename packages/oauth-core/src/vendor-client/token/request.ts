/**
 * The token request (RFC 6749 §3.2): one POST of a form with client authentication, and what follows
 * when its answer is refused, while it is read or after: its tokens reach no client, and what the
 * vendor has spent for them is said. The form is not oauth4webapi's, which puts the same together from
 * several objects of the web and takes them apart again: a sixth of the call. The library
 * still authenticates the client (binding.ts), and checks the answer (validate-response.ts).
 */
import { defined } from "../../mechanics/defined.ts";
import { OAuthError, withRetry } from "../../protocol/errors.ts";
import { isSameText } from "../../protocol/secret.ts";
import type { VendorTokens } from "../../registry/vendor.ts";
import { isWrongAnswer, translateVendorError } from "../errors.ts";
import { readTokenAnswer, type SeenTokens, type TokenAnswer } from "./response.ts";
import type { TokenDeps, TokenExchange } from "./validate-response.ts";

/**
 * @param parameters of the grant, none of them empty
 * @param accept of the answer, normalised, in which nothing is verified; if it throws, the answer is
 *   refused
 * @throws OAuthError as readTokenAnswer and `accept`; temporarily_unavailable if no answer came
 */
export async function askForTokens(
  parameters: Readonly<Record<string, string>>,
  exchange: TokenExchange,
  accept: (answer: TokenAnswer) => Promise<VendorTokens>,
  deps: TokenDeps,
): Promise<VendorTokens> {
  let seen: SeenTokens | undefined;
  try {
    const answer = await request(parameters, exchange, (shown) => void (seen = shown), deps);
    seen = answer;
    return await accept(answer);
  } catch (error) {
    throw seen === undefined ? error : refuse(error, seen, parameters["refresh_token"], exchange, deps);
  }
}

/**
 * @param onRefused the vendor may have issued tokens in an answer that cannot be read: those that it
 *   shows
 */
async function request(
  parameters: Readonly<Record<string, string>>,
  { vendor, credentials, call, signal }: TokenExchange,
  onRefused: (seen: SeenTokens) => void,
  { bindings, now, onLesserAnswer }: TokenDeps,
): Promise<TokenAnswer> {
  if (Object.values(parameters).includes("")) throw new TypeError("a parameter of a token request is empty");
  const { tokenEndpoint, refreshEndpoint = tokenEndpoint } = vendor;
  const endpoint = call.isRefresh === true ? refreshEndpoint : tokenEndpoint;
  try {
    const response = await bindings.postForm({ vendor, credentials, endpoint, to: "token", parameters, signal });
    return await readTokenAnswer(response, vendor, call, { now, onRefused, ...defined({ onLesserAnswer }) });
  } catch (error) {
    if (isWrongAnswer(error)) onRefused({});
    throw translateVendorError(error, call);
  }
}

/**
 * Revokes what the answer has issued: at a redemption its tokens, at a refresh only a refresh token
 * that is new. If the old token stays valid, a revocation of anything else could end the grant.
 *
 * @param sent the refresh token, at a refresh
 * @returns the error, with `retry` if the old refresh token is spent, or a new token is lost
 */
function refuse(
  error: unknown,
  seen: SeenTokens,
  sent: string | undefined,
  { vendor, credentials }: TokenExchange,
  { discard }: TokenDeps,
): unknown {
  const isNew = seen.refreshToken !== undefined && !isSameText(seen.refreshToken, sent ?? "");
  if (sent === undefined) discard(vendor, credentials, seen);
  else if (isNew) discard(vendor, credentials, defined({ refreshToken: seen.refreshToken }));
  const isLost = vendor.rotatesRefreshTokens === true || isNew;
  //= bar#RF-9
  return isLost && error instanceof OAuthError ? withRetry("restart", error) : error;
}
