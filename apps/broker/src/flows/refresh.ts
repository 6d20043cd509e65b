/**
 * POST /v1/token with grant_type=refresh_token: one vendor call for any number of equal requests,
 * over all processes. The broker keeps no tokens: it keeps the answer for 60 s, sealed under the
 * refresh token that was presented.
 */
import { defined, OAuthError } from "@oauth-broker/oauth-core";
import { requireSameSubject, requireTokenHost } from "@oauth-broker/oauth-core/vendor-client";
import { type Parameters, parseScope } from "@oauth-broker/oauth-core/protocol";
import type { ClientConfig } from "../config.ts";
import type { Trace } from "@oauth-broker/service/http";
import type { Deps } from "../deps.ts";
import type { Connection } from "../grants/connection.ts";
import { type GrantContext, readGrantContext } from "../grants/grant-context.ts";
import { type EqualRefreshes, type SingleFlight, singleFlightId } from "../grants/single-flight.ts";
import { readSealedGrant } from "../grants/sealed-refresh-token.ts";
import { answerAgain, type TokenAnswer } from "../grants/token-answer.ts";
import type { PresentedToken } from "../grants/token-binding.ts";

/**
 * The client is authenticated.
 * @throws OAuthError the vendor's answer, translated
 */
export async function refresh(
  parameters: Parameters,
  client: ClientConfig,
  singleFlight: SingleFlight,
  deps: Deps,
  trace: Trace,
): Promise<TokenAnswer> {
  const presented = parameters.require("refresh_token");
  const written = parameters.get("scope");
  const scope = written === undefined ? undefined : parseScope(written);
  // 1. the vendor, endpoints and credentials that minted it
  const grant = await readSealedGrant(presented, client.clientId, deps, unreadable);
  const token: PresentedToken | undefined = grant === undefined ? { value: presented, kinds: ["refresh"] } : undefined;
  const context = await readGrantContext(parameters, client, deps, trace, { token, grant });
  const { vendor, credentials, connection, vendorClient } = context;
  const refreshToken = grant?.refreshToken ?? presented;
  // 2. never to a host other than those
  requireTokenHost(connection.hosts, vendor.refreshEndpoint ?? vendor.tokenEndpoint);
  // 3. one vendor call for all equal requests
  const expected = firstSubject(connection);
  const request = { refreshToken, ...defined({ scope, expected, callbackData: connection.callbackData }) };
  const equal = equalRefreshes(refreshToken, scope, client, context);
  const tokens = await singleFlight.run(equal, () => vendorClient.refreshTokens(vendor, credentials, request));
  // 4. again for each caller: the one that made the call may have named only the vendor
  requireSameSubject(tokens.idToken, expected);
  // 5. the old refresh token stays valid when no new token came
  //= rfc6749#6
  const kept = { ...tokens, refreshToken: tokens.refreshToken ?? refreshToken };
  const answer = answerAgain(kept, context, client, deps, trace);
  // 6. before they leave
  await deps.audit.record("tokens_refreshed", trace);
  return answer;
}

function unreadable(): OAuthError {
  return new OAuthError("invalid_grant", "This refresh token is not valid any more: the user must authorize again");
}

/**
 * Requests are equal when the same client refreshes the same token, at the same endpoints, as the
 * same vendor client (with the same secret, which is not part of the id), for the same scope in any
 * order.
 */
export function equalRefreshes(
  refreshToken: string,
  scope: readonly string[] = [],
  { clientId }: ClientConfig,
  { vendor, credentials, vendorClient }: GrantContext,
): EqualRefreshes {
  const { id, tokenEndpoint, refreshEndpoint = "" } = vendor;
  const idOf = (scopeId: string, token: string): string =>
    singleFlightId([clientId, id, tokenEndpoint, refreshEndpoint, credentials.clientId, scopeId, token]);
  return {
    //= rfc6749#3.3
    id: idOf(scope.toSorted().join(" "), refreshToken),
    hasScope: scope.length > 0,
    revocationId: (token) => idOf("", token),
    clientId,
    refreshToken,
    clientSecret: credentials.source === "byoc" ? credentials.clientSecret?.reveal() : undefined,
    discard: (tokens) => vendorClient.revokeGrant(vendor, credentials, tokens).catch(() => undefined),
  };
}

function firstSubject({ iss, sub }: Connection): { issuer: string; subject: string } | undefined {
  return iss === undefined || sub === undefined ? undefined : { issuer: iss, subject: sub };
}
