/**
 * What a vendor's metadata demands of every flow and we do not do. Known before the browser leaves:
 * otherwise the user would consent to a connection that cannot be made. If entry or file state a
 * field, the metadata's is ignored (discovery/discover.ts).
 */
import { OAuthError } from "../../protocol/errors.ts";
import type { ResolvedVendor, VendorCredentials, VendorDemand } from "../../registry/vendor.ts";
import { isIdTokenDue } from "../issuer.ts";

const WHAT = {
  pushed_requests_required: "requires pushed authorization requests (RFC 9126), which are not sent to vendors",
  signed_requests_required: "requires signed authorization requests (RFC 9101), which are not sent to vendors",
  response_type_not_supported: "does not offer the response type code",
  response_mode_not_supported: "offers no response mode in which an authorization code can be received here",
  client_authentication_not_supported:
    "offers only ways to authenticate the client that need a key, and these credentials have none",
  keys_not_published: "names no jwks_uri, so that the ID token that openid asks for cannot be checked",
  id_token_algs_not_supported:
    "offers ID tokens, which openid asks for, only with algorithms that are not accepted here",
} as const satisfies Record<VendorDemand, string>;

/**
 * @param scope requested at the vendor
 * @throws OAuthError vendor_response_invalid, with the demand as its reason
 */
//= bar#DI-1
export function requireMetDemands(
  vendor: Pick<ResolvedVendor, "demands" | "issuer" | "issuesIdTokens">,
  { certificate, signingKey }: Pick<VendorCredentials, "certificate" | "signingKey">,
  scope: readonly string[],
): void {
  const asksForIdToken = isIdTokenDue(vendor, scope);
  const applies: Partial<Record<VendorDemand, boolean>> = {
    client_authentication_not_supported: (certificate ?? signingKey) === undefined,
    keys_not_published: asksForIdToken,
    id_token_algs_not_supported: asksForIdToken,
  };
  const unmet = vendor.demands?.find((demand) => applies[demand] ?? true);
  //= bar#DI-1
  if (unmet === undefined) return;
  throw new OAuthError("vendor_response_invalid", `The vendor's metadata ${WHAT[unmet]}`, { reason: unmet });
}
