/**
 * POST /v1/token with grant_type=refresh_token: one vendor call for any number of equal requests, over all processes.
 * The broker keeps no tokens: the answer is kept 60 s, sealed under the refresh token that asked for it.
 */
import { type Parameters, parseScope } from "@oauth-broker/oauth-core";
import type { ClientConfig } from "../config.ts";
import type { Deps, Trace } from "../deps.ts";
import { resealConnection, sealConnection } from "./connection.ts";
import { type GrantContext, readGrantContext } from "./grant-context.ts";
import { type SingleFlight, singleFlightId } from "./single-flight.ts";
import { type TokenAnswer, tokenAnswer } from "./token-answer.ts";

/** The client is authenticated. @throws OAuthError; what the vendor's answer is translated to */
export async function refresh(
  parameters: Parameters,
  client: ClientConfig,
  singleFlight: SingleFlight,
  deps: Deps,
  trace: Trace,
): Promise<TokenAnswer> {
  const refreshToken = parameters.require("refresh_token");
  const scope = parameters.get("scope");
  const context = await readGrantContext(parameters, client, deps, trace);
  const { vendor, credentials } = context;
  const id = singleFlightId([
    client.clientId,
    vendor.id,
    vendor.tokenEndpoint,
    vendor.refreshEndpoint ?? "",
    credentials.clientId,
    scope ?? "",
    refreshToken,
  ]);
  const requested = scope === undefined ? undefined : parseScope(scope);
  return singleFlight.run(id, refreshToken, () => refreshOnce(refreshToken, requested, client, context, deps));
}

async function refreshOnce(
  refreshToken: string,
  scope: readonly string[] | undefined,
  client: ClientConfig,
  { vendor, credentials, connection, presented }: GrantContext,
  deps: Deps,
): Promise<TokenAnswer> {
  const { iss, sub } = connection;
  const tokens = await deps.vendorClient.refreshTokens(vendor, credentials, {
    refreshToken,
    ...(scope === undefined ? {} : { scope }),
    ...(iss === undefined || sub === undefined ? {} : { expected: { issuer: iss, subject: sub } }),
  });
  //= rfc6749#6
  const kept = { ...tokens, refreshToken: tokens.refreshToken ?? refreshToken };
  const sealed =
    presented === undefined
      ? sealConnection(connection, client.clientId, deps)
      : resealConnection(presented, connection, client.clientId, deps);
  return tokenAnswer(kept, vendor.id, sealed);
}
