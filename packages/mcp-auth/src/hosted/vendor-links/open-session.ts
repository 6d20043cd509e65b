/**
 * A vendor's fresh tokens become a session: who the user is, the link kept, tokens of ours for the client. The vendor's code is
 * spent by now.
 */
import { type ResolvedVendor, toOAuthError, type VendorTokens, withRestart } from "@oauth-broker/oauth-core";
import type { HostedClient } from "../clients/client.ts";
import type { HostedDeps } from "../deps.ts";
import { linkUser } from "./link-user.ts";
import type { Session } from "../sessions/session.ts";

export interface Redeemed {
  readonly tokens: VendorTokens;
  readonly vendor: ResolvedVendor;
  /** What the vendor was asked for. */
  readonly asked: readonly string[];
}

/** @throws OAuthError as linkUser; temporarily_unavailable with `retry: "restart"` */
export async function openSession(
  { tokens, vendor, asked }: Redeemed,
  { clientId }: Pick<HostedClient, "clientId">,
  deps: HostedDeps,
): ReturnType<HostedDeps["sessions"]["start"]> {
  const scope = grantedScope(tokens, asked);
  const user = await linkUser({ tokens, vendor, scope }, deps);
  return startSession({ user, clientId, scope }, deps.sessions);
}

/** The vendor's word where it gives one. RFC 6749 §5.1 lets it be silent where it granted what was asked. */
//= rfc6749#5.1
function grantedScope({ scope }: VendorTokens, asked: readonly string[]): readonly string[] {
  return scope === undefined || scope.length === 0 ? asked : scope.filter(isScopeToken);
}

function isScopeToken(scope: string): boolean {
  return /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope);
}

/** The link stands, but the code is spent: only a new flow makes a session of it. */
async function startSession(
  session: Omit<Session, "id">,
  sessions: HostedDeps["sessions"],
): ReturnType<HostedDeps["sessions"]["start"]> {
  return sessions.start(session).catch((thrown: unknown) => {
    throw withRestart(toOAuthError(thrown));
  });
}
