/**
 * A vendor's fresh tokens become a user's link: who the user is, then the store. The code is spent by now, so whatever fails
 * here is a flow to start again, and tokens nobody will use are ended at the vendor. Callers: code-grant.ts.
 */
import {
  OAuthError,
  type ResolvedVendor,
  toOAuthError,
  type VendorTokens,
  withRestart,
} from "@oauth-broker/oauth-core";
import { TokenStoreError } from "@oauth-broker/token-store";
import { type LinkDeps, linkKey, tellVendor, tokenSetOf } from "./vendor-link.ts";

/**
 * @returns the user's stable identity at the vendor
 * @throws OAuthError temporarily_unavailable with `retry: "restart"`; vendor_response_invalid where the vendor does not say who
 *   the user is, or its tokens are larger than the store takes
 */
export async function linkUser(tokens: VendorTokens, vendor: ResolvedVendor, deps: LinkDeps): Promise<string> {
  const set = tokenSetOf(tokens, deps.now());
  try {
    const user = await deps.vendorClient.identify(vendor, tokens);
    await deps.tokens.put(linkKey(user, deps), set);
    return user;
  } catch (thrown) {
    // Nobody waits for it, and its failure changes nothing.
    void tellVendor(set, deps);
    throw withRestart(asOAuthError(thrown));
  }
}

function asOAuthError(thrown: unknown): OAuthError {
  if (!(thrown instanceof TokenStoreError)) return toOAuthError(thrown);
  return new OAuthError("vendor_response_invalid", "The vendor's tokens cannot be stored", {
    reason: thrown.code,
    cause: thrown,
  });
}
