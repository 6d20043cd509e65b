/**
 * The token response a backend gets: the vendor's tokens in RFC 6749 members, plus the broker's own
 * members. `vendor_id_token`, not `id_token`: its issuer is the vendor, and a standard client would
 * rightly refuse it from the broker.
 */
import { defined, type JsonObject } from "@oauth-broker/oauth-core";
import type { Redeemed } from "@oauth-broker/oauth-core/brokered-code";
import { formatScope } from "@oauth-broker/oauth-core/protocol";
import type { VendorTokens } from "@oauth-broker/oauth-core/registry";
import type { Trace } from "@oauth-broker/service/http";
import type { ClientConfig } from "../config.ts";
import type { Deps } from "../deps.ts";
import type { VendorChoice } from "../vendor-choice/choose.ts";
import type { Account } from "./account.ts";
import { type Connection, connectionOf, issueConnection, resealConnection } from "./connection.ts";
import type { GrantContext } from "./grant-context.ts";
import { sealRefreshToken } from "./sealed-refresh-token.ts";
import { bindTokens } from "./token-binding.ts";

export type TokenAnswer = ReturnType<typeof tokenAnswer>;

/** The answer to a code. */
export function firstAnswer(
  { tokens, vendor: choice, callbackData }: Redeemed<unknown, VendorChoice>,
  account: Account | undefined,
  client: ClientConfig,
  deps: Pick<Deps, "keyset" | "registrations">,
  trace: Trace,
): TokenAnswer {
  const connection = bindTokens(connectionOf(choice, account, callbackData), tokens, choice, client, deps);
  const value = issueConnection(choice, connection, client.clientId, deps);
  const refreshToken = handedOut(tokens.refreshToken, connection, client, deps, trace);
  return tokenAnswer(tokens, refreshToken, choice.vendor.id, value, callbackData);
}

/** The answer to a refresh; its tokens have the refresh token that is valid now. */
export function answerAgain(
  tokens: VendorTokens,
  { connection: before, presented, ...choice }: GrantContext,
  client: ClientConfig,
  deps: Pick<Deps, "keyset" | "registrations">,
  trace: Trace,
): TokenAnswer {
  const { clientId } = client;
  const connection = bindTokens(before, tokens, choice, client, deps);
  const value = resealConnection(presented, { connection, before }, clientId, choice.vendor, deps);
  const refreshToken = handedOut(tokens.refreshToken, connection, client, deps, trace);
  return tokenAnswer(tokens, refreshToken, choice.vendor.id, value);
}

/** The refresh token as this client gets it. */
function handedOut(
  refreshToken: string | undefined,
  connection: Connection,
  { clientId, refreshTokens }: ClientConfig,
  deps: Pick<Deps, "keyset">,
  trace: Trace,
): string | undefined {
  if (refreshToken === undefined || refreshTokens !== "sealed") return refreshToken;
  const sealed = sealRefreshToken(refreshToken, connection, clientId, deps);
  if (sealed === undefined) trace.warning = "refresh_token: too long to be sealed, left out";
  return sealed;
}

//= rfc6749#5.1
function tokenAnswer(
  tokens: VendorTokens,
  refreshToken: string | undefined,
  vendor: string,
  connection: string,
  callbackData: Readonly<Record<string, string>> = {},
) {
  const { scope = [] } = tokens;
  return {
    access_token: tokens.accessToken,
    token_type: tokens.tokenType,
    ...defined({
      expires_in: tokens.expiresInSeconds,
      refresh_token: refreshToken,
      // For the refresh token in this answer.
      refresh_token_expires_in: refreshToken === undefined ? undefined : tokens.refreshExpiresInSeconds,
      // An empty string is not a scope (rfc6749#3.3 requires at least one token), and strict clients
      // refuse it.
      scope: scope.length === 0 ? undefined : formatScope(scope),
      vendor_id_token: tokens.idToken?.raw,
    }),
    vendor,
    connection,
    vendor_data: { ...callbackData, ...tokens.vendorData } satisfies JsonObject,
  };
}
