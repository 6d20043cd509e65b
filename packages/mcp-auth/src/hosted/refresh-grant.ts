/**
 * POST /token with grant_type=refresh_token: new tokens of ours, as long as the user's link to the vendor lives. A dead link is
 * told here too, so that clients stop and send the user through a new authorization.
 */
import { OAuthError, type Parameters, parseScope } from "@oauth-broker/oauth-core";
import type { HostedClient } from "./clients/client.ts";
import type { HostedDeps } from "./deps.ts";
import { requireOwnResource } from "./requested.ts";
import type { IssuedTokens } from "./sessions/session.ts";
import { linkKey } from "./vendor-links/link.ts";

/** @throws OAuthError invalid_grant; invalid_scope; invalid_target; temporarily_unavailable, and the session lives */
//= rfc6749#6
export async function refreshSession(
  parameters: Parameters,
  { clientId }: HostedClient,
  deps: HostedDeps,
): Promise<IssuedTokens> {
  const refreshToken = parameters.require("refresh_token");
  requireOwnResource(parameters, deps.settings);
  const wished = parameters.get("scope");
  const scope = wished === undefined ? undefined : parseScope(wished);
  const session = await deps.sessions.find(refreshToken);
  if (session?.clientId === clientId) await requireLink(session.user, deps);
  // Also for a token that was not found: a replayed one ends its session there.
  return deps.sessions.refresh(refreshToken, { clientId, scope });
}

async function requireLink(user: string, deps: HostedDeps): Promise<void> {
  const link = await deps.tokens.get(linkKey(user, deps));
  if (link?.status === "active") return;
  throw new OAuthError("invalid_grant", "The user must authorize again", { reason: "reauthorization_required" });
}
