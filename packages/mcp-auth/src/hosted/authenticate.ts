/**
 * The bearer check of hosted mode: resolves one of our tokens to its user and that user's vendor
 * token. With one vendor the link is read before any tool runs, so that a dead grant is a 401 the
 * client can act on and not an error inside a tool. With several a link has no say in whether the
 * session is valid: the tools ask the user for what is missing.
 */
import type { StoredTokens } from "@oauth-broker/token-store";
import type { Caller } from "../mode.ts";
import type { HostedDeps } from "./deps.ts";
import type { Tickets } from "./tickets/tickets.ts";
import type { LiveSession } from "./sessions/sessions.ts";
import { type LinkDeps, linkScope } from "./links/link.ts";
import { readLinked, tokenSource } from "./links/token-source.ts";
import { userLinks } from "./tickets/caller-links.ts";

export type AuthenticateDeps = Pick<HostedDeps, "sessions" | "tokens" | "vendorClient" | "now" | "settings"> & {
  /** From the pages that ask for links. */
  readonly tickets?: Tickets | undefined;
};

/** As Authenticate: sessions/sessions.ts knows the token, links/token-source.ts reads the user's link. */
//= bar#RS-2
export async function authenticate(bearer: string, deps: AuthenticateDeps): Promise<Caller | undefined> {
  const session = await deps.sessions.identify(bearer);
  if (session === undefined) return undefined;
  const { tickets } = deps;
  if (tickets !== undefined) return linkingCaller(session, { ...deps, tickets });
  const tokens = await readLinked(session.user, deps);
  if (typeof tokens !== "object") return undefined;
  const { user, expiresAt, clientId } = session;
  const scopes = scopesOf(session, tokens, deps);
  return { ...scopes, user, expiresAt, clientId, ...tokenSource(user, tokens, scopes.vendorScope, deps) };
}

function linkingCaller(session: LiveSession, deps: AuthenticateDeps & { readonly tickets: Tickets }): Caller {
  const { user, expiresAt, clientId, scope } = session;
  const ofNoVendor = async (): Promise<never> => {
    throw new TypeError("with several vendors a token is that of a link");
  };
  return {
    user,
    expiresAt,
    clientId,
    scope,
    vendorScope: undefined,
    vendorToken: ofNoVendor,
    refused: ofNoVendor,
    links: userLinks(session, deps),
  };
}

/**
 * A call has the scopes that both the session and the link have. A link without a known scope may
 * have all that is requested.
 */
function scopesOf(
  { scope }: Pick<LiveSession, "scope">,
  link: Pick<StoredTokens, "tokens">,
  { settings }: Pick<LinkDeps, "settings">,
): Pick<Caller, "scope" | "vendorScope"> {
  const vendorScope = linkScope(link);
  if (vendorScope === undefined) return { scope, vendorScope: settings.vendor.scopes };
  return { scope: scope.filter((token) => vendorScope.includes(token)), vendorScope };
}
