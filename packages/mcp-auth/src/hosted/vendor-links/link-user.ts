/**
 * A vendor's fresh tokens become a user's link: who the user is, then the store. The code is spent by now, so whatever fails
 * here is a flow to start again, and tokens nobody will use are ended at the vendor. Callers: redeem-vendor-code.ts.
 */
import {
  OAuthError,
  type ResolvedVendor,
  toOAuthError,
  type VendorTokens,
  withRestart,
} from "@oauth-broker/oauth-core";
import { type StoredTokens, type TokenKey, TokenStoreError } from "@oauth-broker/token-store";
import { outlasts } from "./kept-link.ts";
import { type LinkDeps, linkKey, tellVendor, tokenSetOf } from "./link.ts";

export interface NewLink {
  readonly tokens: VendorTokens;
  readonly vendor: ResolvedVendor;
  /** As granted. */
  readonly scope: readonly string[];
}

/**
 * A link that permits more stays, and the new tokens are dropped. They are not revoked: at many vendors that ends the whole grant.
 *
 * @returns the user's stable identity at the vendor
 * @throws OAuthError temporarily_unavailable with `retry: "restart"`; vendor_response_invalid where the vendor does not say who
 *   the user is, or its tokens are larger than the store takes
 */
export async function linkUser({ tokens, vendor, scope }: NewLink, deps: LinkDeps): Promise<string> {
  const set = tokenSetOf({ ...tokens, scope }, deps.now());
  try {
    const user = await deps.vendorClient.identify(vendor, tokens);
    const key = linkKey(user, deps);
    const present = await readable(key, deps);
    const { scopes: asked } = deps.settings.vendor;
    const isKept = present !== undefined && outlasts(present, scope, { asked, now: deps.now() });
    if (!isKept) await deps.tokens.put(key, set);
    return user;
  } catch (thrown) {
    // Nobody waits for it, and its failure changes nothing.
    void tellVendor(set, deps);
    throw withRestart(asOAuthError(thrown));
  }
}

/** A link that cannot be read is as good as none: the new tokens go over it. */
async function readable(key: TokenKey, { tokens }: Pick<LinkDeps, "tokens">): Promise<StoredTokens | undefined> {
  return tokens.get(key).catch((error: unknown) => {
    if (error instanceof OAuthError && error.extras.reason === "token_unreadable") return undefined;
    throw error;
  });
}

function asOAuthError(thrown: unknown): OAuthError {
  if (!(thrown instanceof TokenStoreError)) return toOAuthError(thrown);
  return new OAuthError("vendor_response_invalid", "The vendor's tokens cannot be stored", {
    reason: thrown.code,
    cause: thrown,
  });
}
