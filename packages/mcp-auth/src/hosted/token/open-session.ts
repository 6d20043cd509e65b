/**
 * Turns a vendor's fresh tokens into a session: identifies the user, stores the user's link, and
 * issues our tokens to the client. The code is spent by now, so any failure here means starting
 * the flow again.
 */
import { defined, toOAuthError, withRestart } from "@oauth-broker/oauth-core";
import type { HostedClient } from "../clients/client.ts";
import type { HostedDeps } from "../deps.ts";
import { grantedScope, linkUser, type NewLink } from "../links/link-user.ts";

export interface Redeemed extends Omit<NewLink, "scope"> {
  /** The scope that was requested. */
  readonly requestedScope: readonly string[];
  /** With `VENDORS`: the session's scope, as the consent page showed it. */
  readonly consented?: readonly string[];
}

/** @throws OAuthError as linkUser; temporarily_unavailable with `retry: "restart"` */
export async function openSession(
  { requestedScope, consented, ...redeemed }: Redeemed,
  { clientId }: Pick<HostedClient, "clientId">,
  deps: HostedDeps,
): ReturnType<HostedDeps["sessions"]["start"]> {
  const scope = grantedScope(redeemed.tokens, requestedScope);
  const user = await linkUser({ ...redeemed, scope }, deps);
  return deps.sessions.start({ user, clientId, scope, ...defined({ consented }) }).catch((thrown: unknown) => {
    // The link is stored, but the code is spent: only a new flow can produce a session.
    throw withRestart(toOAuthError(thrown));
  });
}
