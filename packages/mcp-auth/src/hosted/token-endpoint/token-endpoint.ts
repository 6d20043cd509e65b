/**
 * POST /token: a form from a known client, one of two grants, a response of RFC 6749 §5.1. POST
 * /revoke (RFC 7009) ends the session of the presented token, and with a user's last session their
 * links too, here and, as far as possible, at the vendor.
 */
import { OAuthError } from "@oauth-broker/oauth-core";
import { formatScope, type Parameters, parseScope } from "@oauth-broker/oauth-core/protocol";
import { type Answer, jsonAnswer } from "@oauth-broker/oauth-core/http";
import type { Trace } from "@oauth-broker/service/http";
import type { FindClient, HostedClient } from "../clients/client.ts";
import type { HostedDeps } from "../deps.ts";
import { requireOwnResource } from "../../resource/paths.ts";
import type { IssuedTokens } from "../sessions/token-pair.ts";
import { ignorableScopes } from "../link-policy/scope.ts";
import { atVendor, endLink, isUsable, linkKey } from "../links/link.ts";

/** Redeems a posted code: the vendor's own, or one of our own. */
export type RedeemCode = (parameters: Parameters, client: HostedClient, trace: Trace) => Promise<IssuedTokens>;

export interface TokenDeps extends HostedDeps {
  readonly findClient: FindClient;
  readonly redeemCode: RedeemCode;
  /** The flow that our code in a form names; absent if codes are the vendor's. */
  readonly flowIdOf?: (form: string) => string | undefined;
  /** Called for every client that got tokens. */
  readonly markUsed?: (client: HostedClient) => Promise<void>;
}

/** The form of a known client. */
export interface TokenRequest {
  readonly parameters: Parameters;
  readonly client: HostedClient;
}

/** @throws OAuthError unsupported_grant_type, and as the grants */
//= rfc6749#5.1
export async function answerToken(
  { parameters, client }: TokenRequest,
  deps: TokenDeps,
  trace: Trace,
): Promise<Answer> {
  const { accessToken, refreshToken, expiresInSeconds, scope } = await grant(parameters, client, deps, trace);
  await deps.markUsed?.(client);
  return jsonAnswer(200, {
    access_token: accessToken,
    token_type: "Bearer",
    expires_in: expiresInSeconds,
    refresh_token: refreshToken,
    // An empty list is left out: the grammar requires at least one token.
    ...(scope.length === 0 ? {} : { scope: formatScope(scope) }),
  });
}

//= rfc6749#5.2
function grant(parameters: Parameters, client: HostedClient, deps: TokenDeps, trace: Trace): Promise<IssuedTokens> {
  switch (parameters.require("grant_type")) {
    case "authorization_code":
      return deps.redeemCode(parameters, client, trace);
    case "refresh_token":
      return redeemRefreshToken(parameters, client, deps);
    default:
      throw new OAuthError("unsupported_grant_type", "grant_type must be authorization_code or refresh_token");
  }
}

/**
 * New access and refresh tokens, as long as the user's link to the vendor is alive. A dead link is an error
 * here too, so that clients stop and send the user through a new authorization. With `VENDORS` no
 * link ends a session: the user is asked for it when a tool needs it.
 *
 * @throws OAuthError invalid_grant; invalid_scope; invalid_target; temporarily_unavailable, and the
 *   session stays
 */
//= rfc6749#6
async function redeemRefreshToken(
  parameters: Parameters,
  { clientId }: HostedClient,
  deps: HostedDeps,
): Promise<IssuedTokens> {
  const refreshToken = parameters.require("refresh_token");
  requireOwnResource(parameters, deps.settings);
  const requested = parameters.get("scope");
  const scope = requested === undefined ? undefined : parseScope(requested);
  if (deps.settings.links.deadLink === "ends_token") {
    const session = await deps.sessions.find(refreshToken);
    if (session?.clientId === clientId) await requireLink(session.user, deps);
  }
  // Also for a token that was not found: there a replayed one ends its session.
  return deps.sessions.refresh(refreshToken, { clientId, scope, ignorable: ignorableScopes(deps.settings.links) });
}

async function requireLink(user: string, deps: HostedDeps): Promise<void> {
  const link = await deps.tokens.get(linkKey(user, deps));
  if (link !== undefined && isUsable(link, deps)) return;
  throw new OAuthError("invalid_grant", "The user must authorize again", { reason: "reauthorization_required" });
}

/** @throws OAuthError invalid_request; temporarily_unavailable */
//= rfc7009#2.2
//= bar#AS-21
export async function revoke({ parameters, client }: TokenRequest, deps: HostedDeps): Promise<Answer> {
  const ended = await deps.sessions.revoke(parameters.require("token"), client.clientId);
  if (ended?.wasLast === true) await endLinks(ended.user, deps);
  return jsonAnswer(200, {});
}

/** With several vendors links outlive sessions, unless the operator decides otherwise. */
async function endLinks(user: string, deps: HostedDeps): Promise<void> {
  const { links } = deps.settings;
  if (!links.endLinksWithLastSession) return;
  const ids = [...links.vendors.keys()];
  const ends = await Promise.allSettled(ids.map((id) => endLink(user, atVendor(id, deps))));
  const failed = ends.find((end) => end.status === "rejected");
  // The revocation of a session can be sent again: the links that are left then end.
  if (failed !== undefined) throw failed.reason;
}
