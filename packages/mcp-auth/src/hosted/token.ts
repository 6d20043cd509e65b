/** POST /token: a form from a known client, one of two grants, an answer of RFC 6749 §5.1. */
import { formatScope, OAuthError, type Parameters } from "@oauth-broker/oauth-core";
import { type Answer, jsonAnswer } from "@oauth-broker/oauth-core/hono";
import type { Trace } from "@oauth-broker/oauth-core/service";
import { type FindClient, type HostedClient, requireClient } from "./clients/client.ts";
import type { HostedDeps } from "./deps.ts";
import { refreshSession } from "./refresh-grant.ts";
import type { IssuedTokens } from "./sessions/session.ts";

/** What a callback makes of a code that was posted: the vendor's own, or one of ours. */
export type RedeemCode = (parameters: Parameters, client: HostedClient, trace: Trace) => Promise<IssuedTokens>;

export interface TokenDeps extends HostedDeps {
  readonly findClient: FindClient;
  readonly redeemCode: RedeemCode;
  /** Told of every client that got tokens. */
  readonly noteUse?: (client: HostedClient) => Promise<void>;
}

export interface TokenRequest {
  readonly parameters: Parameters;
  /** The header as received. */
  readonly authorization: string | undefined;
}

/** @throws OAuthError invalid_client, unsupported_grant_type, and as the grants */
export async function answerToken(
  { parameters, authorization }: TokenRequest,
  deps: TokenDeps,
  trace: Trace,
): Promise<Answer> {
  const client = await requireClient(authorization, parameters, deps.findClient);
  trace.clientId = client.clientId;
  const tokens = await grant(parameters, client, deps, trace);
  await deps.noteUse?.(client);
  return jsonAnswer(200, asResponse(tokens));
}

//= rfc6749#5.2
function grant(parameters: Parameters, client: HostedClient, deps: TokenDeps, trace: Trace): Promise<IssuedTokens> {
  switch (parameters.require("grant_type")) {
    case "authorization_code":
      return deps.redeemCode(parameters, client, trace);
    case "refresh_token":
      return refreshSession(parameters, client, deps);
    default:
      throw new OAuthError("unsupported_grant_type", "grant_type must be authorization_code or refresh_token");
  }
}

//= rfc6749#5.1
function asResponse({ accessToken, refreshToken, expiresInSeconds, scope }: IssuedTokens): Record<string, unknown> {
  return {
    access_token: accessToken,
    token_type: "Bearer",
    expires_in: expiresInSeconds,
    refresh_token: refreshToken,
    // An empty one is no scope: the grammar wants a token at least.
    ...(scope.length === 0 ? {} : { scope: formatScope(scope) }),
  };
}
