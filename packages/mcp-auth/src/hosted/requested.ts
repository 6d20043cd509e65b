/** What a client may ask for, read the same way at `/authorize` and `/token`: a resource and a scope. */
import { hasIdTokens, isSubset, OAuthError, type Parameters, parseScope } from "@oauth-broker/oauth-core";
import type { HostedSettings } from "../settings.ts";
import { resourceOf } from "./paths.ts";

/**
 * Absent means the one there is.
 *
 * @throws OAuthError invalid_target for any other, byte for byte
 */
//= rfc8707#2
//= bar#AS-16
export function requireOwnResource(
  parameters: Parameters,
  { deploymentUrl }: Pick<HostedSettings, "deploymentUrl">,
): void {
  const resource = parameters.get("resource");
  if (resource === undefined || resource === resourceOf(deploymentUrl)) return;
  throw new OAuthError("invalid_target", "resource is not served here");
}

/**
 * @param scope as received; absent means all
 * @returns what the user is asked for at the vendor
 * @throws OAuthError invalid_scope for anything beyond `VENDOR_SCOPES`
 */
//= rfc6749#3.3
export function requireScope(
  scope: string | undefined,
  { vendor: { vendor, scopes } }: Pick<HostedSettings, "vendor">,
): readonly string[] {
  const wished = scope === undefined ? [] : parseScope(scope);
  if (!isSubset(wished, scopes)) throw new OAuthError("invalid_scope", "scope is more than this server asks for");
  if (wished.length === 0) return scopes;
  // Who the user is comes in an ID token where the vendor has them, so nobody gets by without.
  const isOwed = hasIdTokens(vendor) && scopes.includes("openid") && !wished.includes("openid");
  return isOwed ? ["openid", ...wished] : wished;
}
