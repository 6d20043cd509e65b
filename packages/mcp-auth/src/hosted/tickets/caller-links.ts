/**
 * The links of a calling user, with several vendors: what the tools of mcp/ see of them. Reading is
 * as for one vendor: refreshed under the lease, and a dead grant ends neither session nor call.
 */
import { OAuthError } from "@oauth-broker/oauth-core";
import type { StoredTokens } from "@oauth-broker/token-store";
import type { CallerLinks, LinkRequest, UserLink } from "../../mode.ts";
import type { Tickets } from "./tickets.ts";
import type { LiveSession } from "../sessions/sessions.ts";
import { atVendor, linkKey, type LinkDeps, linkScope } from "../links/link.ts";
import { readLinked, tokenSource } from "../links/token-source.ts";

export type UserLinksDeps = LinkDeps & { readonly tickets: Tickets };

/** @param session whose user and client the links and tickets are of */
export function userLinks(session: LiveSession, deps: UserLinksDeps): CallerLinks {
  const { tickets } = deps;
  const { user, clientId, id: sessionId, scope } = session;
  const owner = { user, clientId };
  return {
    sessionScope: (vendor) => deps.settings.links.scopesAt(scope, vendor),
    read: async (vendor) => readUserLink(user, atVendor(vendor, deps)),
    ask: async (request) => tickets.ask({ ...owner, sessionId, ...(await requireAskable(request, user, scope, deps)) }),
    ticketState: (id) => tickets.stateOf(id, owner),
    cancel: (id) => tickets.cancel(id, owner),
  };
}

async function readUserLink(user: string, deps: LinkDeps): Promise<UserLink> {
  const read = await readLinked(user, deps);
  if (read === "missing") return { state: read };
  if (read === "dead") {
    const { stored } = await deps.tokens.readLink(linkKey(user, deps));
    return { state: read, scope: typeof stored === "object" ? linkScope(stored) : undefined };
  }
  const scope = linkScope(read);
  return {
    ...tokenSource(user, read, scope ?? deps.settings.vendor.scopes, deps),
    state: "usable",
    scope,
    notGranted: read.tokens.link?.notGranted ?? [],
    lacks: (lacked) => markLacking(lacked, user, read, deps),
  };
}

/**
 * Whether the user is asked once more for a scope that the link has and the vendor refused for lack
 * of. The mark holds the link version, so that calls before the user has answered ask the same.
 */
async function markLacking(scope: string, user: string, read: StoredTokens, deps: LinkDeps): Promise<boolean> {
  let isFirst = true;
  await deps.tokens.describeLink(linkKey(user, deps), (link, linkVersion) => {
    const { lacked, notGranted, ...rest } = link ?? { linkedAt: read.writtenAt, lacked: {}, notGranted: [] };
    const since = Object.hasOwn(lacked, scope) ? lacked[scope] : undefined;
    isFirst = since === undefined || since === linkVersion;
    if (!isFirst) {
      if (notGranted.includes(scope)) return undefined;
      return { ...rest, lacked, notGranted: [...notGranted, scope] };
    }
    return since === linkVersion ? undefined : { ...rest, notGranted, lacked: { ...lacked, [scope]: linkVersion } };
  });
  return isFirst;
}

/**
 * At most what `VENDOR_<ID>_SCOPES` and the session both hold, together with what the link has.
 *
 * @throws OAuthError server_error for more: the caller of this has checked it
 */
async function requireAskable(
  request: LinkRequest,
  user: string,
  sessionScope: readonly string[],
  deps: UserLinksDeps,
): Promise<LinkRequest> {
  const { vendor, scopes } = request;
  const at = atVendor(vendor, deps);
  const ofSession = deps.settings.links.scopesAt(sessionScope, vendor);
  const isPermitted = (scope: string): boolean =>
    at.settings.vendor.scopes.includes(scope) && ofSession.includes(scope);
  if (scopes.every(isPermitted)) return request;
  const { stored } = await deps.tokens.readLink(linkKey(user, at));
  const linked = typeof stored === "object" ? (linkScope(stored) ?? []) : [];
  if (scopes.every((scope) => isPermitted(scope) || linked.includes(scope))) return request;
  throw new OAuthError("server_error", "The tool asks for more than this session may have", {
    detail: `a scope of ${vendor} that neither the session nor the link has`,
  });
}
