/**
 * Hosted mode's gate to `/mcp`: resolves a token of ours to its user and that user's vendor token.
 * The link is read before any tool runs, so that a dead grant is a 401 the client can act on and
 * not an error inside a tool.
 */
import { defined, type Clock, OAuthError, toOAuthError } from "@oauth-broker/oauth-core";
import type { StoredTokens } from "@oauth-broker/token-store";
import type { Caller, Gate, VendorToken } from "../mode.ts";
import type { HostedDeps } from "./deps.ts";
import type { LiveSession } from "./sessions/session.ts";
import { freshTokens, type LinkDeps, linkScope } from "./vendor-links/link.ts";

export type GateDeps = LinkDeps & Pick<HostedDeps, "sessions">;

export function createHostedGate(deps: GateDeps): Gate {
  return {
    //= bar#RS-2
    identify: async (bearer) => {
      const session = await deps.sessions.identify(bearer);
      if (session === undefined) return undefined;
      const tokens = await linkOf(session.user, deps);
      return tokens === undefined ? undefined : callerOf(session, tokens, deps);
    },
  };
}

/** @returns undefined when the user must authorize again */
async function linkOf(
  user: string,
  deps: GateDeps,
  options: { readonly refused?: number } = {},
): Promise<StoredTokens | undefined> {
  try {
    return await freshTokens(user, deps, options);
  } catch (thrown) {
    const error = toOAuthError(thrown);
    if (error.code === "invalid_grant") return undefined;
    throw toOutage(error);
  }
}

/**
 * A vendor that refuses our client, or responds wrongly, is no fault of the caller, and the link
 * stays.
 */
function toOutage(error: OAuthError): OAuthError {
  if (error.code !== "vendor_credentials_rejected" && error.code !== "vendor_response_invalid") return error;
  return new OAuthError("temporarily_unavailable", "The vendor token cannot be renewed now", {
    reason: error.extras.reason ?? error.code,
    cause: error,
    ...(error.extras.vendorError === undefined ? {} : { vendorError: error.extras.vendorError }),
  });
}

/** The tokens read for the request serve its first vendor call; a later call reads again. */
const FIRST_SECONDS = 5;

function callerOf(session: LiveSession, read: StoredTokens, deps: GateDeps): Caller {
  const { user, expiresAt, clientId } = session;
  const first = { tokens: read, until: deps.now() + FIRST_SECONDS };
  const scopes = scopesOf(session, read, deps);
  return {
    ...scopes,
    user,
    expiresAt,
    clientId,
    vendorToken: async () => {
      if (isYoung(first, deps.now)) return vendorToken(first.tokens);
      const tokens = await linkOf(user, deps);
      if (tokens !== undefined) return vendorToken(requireCheckedScope(tokens, scopes));
      throw new OAuthError("invalid_grant", "The user must authorize again", { reason: "reauthorization_required" });
    },
    refused: async ({ version }) => {
      first.until = 0;
      const tokens = await linkOf(user, deps, { refused: version });
      return tokens === undefined || tokens.version === version
        ? undefined
        : vendorToken(requireCheckedScope(tokens, scopes));
    },
  };
}

/**
 * A call has the scopes that both the session and the link have. A link without a known scope may
 * have all that is requested.
 */
export function scopesOf(
  { scope }: Pick<LiveSession, "scope">,
  link: Pick<StoredTokens, "tokens">,
  { settings }: Pick<GateDeps, "settings">,
): Pick<Caller, "scope" | "vendorScope"> {
  const vendorScope = linkScope(link);
  if (vendorScope === undefined) return { scope, vendorScope: settings.vendor.scopes };
  return { scope: scope.filter((token) => vendorScope.includes(token)), vendorScope };
}

/**
 * Another sign-in may have widened the link while the call ran: the call was admitted for the
 * link's scope at that time.
 */
function requireCheckedScope(tokens: StoredTokens, { vendorScope = [] }: Pick<Caller, "vendorScope">): StoredTokens {
  if (linkScope(tokens)?.every((token) => vendorScope.includes(token)) !== false) return tokens;
  throw new OAuthError("temporarily_unavailable", "The user's link has changed: call again");
}

function isYoung({ until }: { readonly until: number }, now: Clock): boolean {
  return now() < until;
}

function vendorToken({ tokens: { accessToken, idToken }, version }: StoredTokens): VendorToken {
  return { accessToken, version, ...defined({ idToken }) };
}
