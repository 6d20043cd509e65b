/**
 * POST /v1/check: whether a connection is still good. Asks the vendor in the vendor's own way, with
 * the access token that the backend presents; nothing is kept, and what the vendor does not say is
 * absent.
 */
import { defined, type JsonObject } from "@oauth-broker/oauth-core";
import type { AccessTokenCheck, CheckedAccount } from "@oauth-broker/oauth-core/vendor-client";
import { formatScope, type Parameters, parseScope } from "@oauth-broker/oauth-core/protocol";
import type { Trace } from "@oauth-broker/service/http";
import type { ClientConfig } from "../config.ts";
import { type Connection, notOurs } from "../grants/connection.ts";
import { readGrantContext } from "../grants/grant-context.ts";
import { readSealedGrant } from "../grants/sealed-refresh-token.ts";
import type { PresentedToken } from "../grants/token-binding.ts";
import type { Deps } from "../deps.ts";

/**
 * The client is authenticated.
 * @throws OAuthError the vendor's answer, translated
 */
export async function check(
  parameters: Parameters,
  client: ClientConfig,
  deps: Deps,
  trace: Trace,
): Promise<JsonObject> {
  const accessToken = parameters.require("access_token");
  const scope = parseScope(parameters.get("scope") ?? "");
  // 1. the vendor, endpoints and credentials that minted the token
  const grant = await readSealedGrant(parameters.get("refresh_token"), client.clientId, deps, notOurs);
  if (grant === undefined) parameters.require("connection");
  const token: PresentedToken = { value: accessToken, kinds: ["access"] };
  const context = await readGrantContext(parameters, client, deps, trace, { token, grant });
  const { vendor, credentials, connection, vendorClient } = context;
  // 2. the vendor's own way, at no host other than the connection's
  const found = await vendorClient.checkAccessToken(vendor, credentials, {
    accessToken,
    scope,
    hosts: [...connection.hosts, ...(connection.checkHosts ?? [])],
    ...defined({ account: accountOf(connection) }),
  });
  // 3. what the vendor said, and nothing else
  return checkAnswer(found);
}

function accountOf({ iss, sub }: Connection): CheckedAccount | undefined {
  return sub === undefined ? undefined : { subject: sub, ...defined({ issuer: iss }) };
}

function checkAnswer(found: AccessTokenCheck): JsonObject {
  const { scope, missingScope, account } = found;
  return {
    active: found.active,
    ...defined({
      scope: scope && formatScope(scope),
      missing_scope: missingScope && formatScope(missingScope),
      expires_in: found.expiresInSeconds,
      account: account && { issuer: account.issuer ?? null, subject: account.subject },
    }),
    checked_by: found.checkedBy,
  };
}
