/**
 * The vendor token of a link for the length of a call: read when the call begins, so that a dead
 * grant is noticed before a tool runs, and read again when the call is long. With one vendor
 * ../authenticate.ts uses it, with several ../tickets/caller-links.ts.
 */
import { defined, OAuthError, toOAuthError } from "@oauth-broker/oauth-core";
import type { StoredTokens } from "@oauth-broker/token-store";
import { toOutage, type VendorToken, type VendorTokenSource } from "../../mode.ts";
import { freshTokens, type LinkDeps, linkScope } from "./link.ts";

/**
 * @returns `missing` when the user has no link, `dead` when they must authorize again
 * @throws OAuthError temporarily_unavailable
 */
export async function readLinked(
  user: string,
  deps: LinkDeps,
  options: { readonly refused?: number } = {},
): Promise<StoredTokens | "missing" | "dead"> {
  try {
    return (await freshTokens(user, deps, options)) ?? "missing";
  } catch (thrown) {
    const error = toOAuthError(thrown);
    if (error.code === "invalid_grant") return "dead";
    throw toOutage(error, "The vendor token cannot be renewed now");
  }
}

/** The tokens read for the request serve its first vendor call; a later call reads again. */
const FIRST_SECONDS = 5;

/**
 * @param read when the call began
 * @param admitted the scope the call was admitted for: a link that was widened since gives it no
 *   token
 */
export function tokenSource(
  user: string,
  read: StoredTokens,
  admitted: readonly string[] | undefined,
  deps: LinkDeps,
): VendorTokenSource {
  const first = { tokens: read, until: deps.now() + FIRST_SECONDS };
  const requireChecked = (tokens: StoredTokens): VendorToken => {
    requireSameLink(tokens, read, admitted ?? []);
    return vendorToken(tokens);
  };
  return {
    vendorToken: async () => {
      if (deps.now() < first.until) return vendorToken(first.tokens);
      const tokens = await readLinked(user, deps);
      if (typeof tokens === "object") return requireChecked(tokens);
      throw new OAuthError("invalid_grant", "The user must authorize again", { reason: "reauthorization_required" });
    },
    refused: async ({ version }) => {
      first.until = 0;
      const tokens = await readLinked(user, deps, { refused: version });
      return typeof tokens !== "object" || tokens.version === version ? undefined : requireChecked(tokens);
    },
  };
}

/**
 * Another flow of the user may have widened the link while the call ran, or linked another account:
 * the call was admitted for what the link was at that time.
 */
function requireSameLink(tokens: StoredTokens, read: StoredTokens, admitted: readonly string[]): void {
  const isWithin = linkScope(tokens)?.every((token) => admitted.includes(token)) !== false;
  const isSameAccount = tokens.tokens.link?.account === read.tokens.link?.account;
  //= bar#LK-10
  if (isWithin && isSameAccount) return;
  throw new OAuthError("temporarily_unavailable", "The user's link has changed: call again");
}

function vendorToken({ tokens: { accessToken, idToken }, version }: StoredTokens): VendorToken {
  return { accessToken, version, ...defined({ idToken }) };
}
