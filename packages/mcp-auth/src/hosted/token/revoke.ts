/**
 * POST /revoke (RFC 7009): ends the session of the presented token. With a user's last session
 * their link to the vendor ends too, here and, as far as possible, at the vendor; with several
 * vendors their links only if `END_LINKS_WITH_LAST_SESSION` says so.
 */
import { type Answer, jsonAnswer } from "@oauth-broker/oauth-core/http";
import type { Trace } from "@oauth-broker/service/http";
import { requireClient } from "../clients/client.ts";
import type { HostedDeps } from "../deps.ts";
import type { TokenDeps, TokenRequest } from "./token.ts";
import { atVendor, endLink } from "../links/link.ts";

/** @throws OAuthError invalid_client, invalid_request; temporarily_unavailable */
//= rfc7009#2.2
//= bar#AS-21
export async function revoke(
  { parameters, authorization }: TokenRequest,
  deps: TokenDeps,
  trace: Trace,
): Promise<Answer> {
  const { clientId } = await requireClient(authorization, parameters, deps.findClient);
  trace.clientId = clientId;
  const ended = await deps.sessions.revoke(parameters.require("token"), clientId);
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
