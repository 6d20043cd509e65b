/**
 * The scopes of sessions. With `VENDOR` they are the vendor's own. With `VENDORS` each names its
 * vendor, `<id>:<vendor scope>`: an id has no colon, so the first ends it.
 */
import { hasIdTokens } from "@oauth-broker/oauth-core/vendor-client";
import { OFFLINE_ACCESS } from "../../resource/scopes.ts";
import type { LinkPolicy, VendorSettings } from "../../settings.ts";

/**
 * Clients ask for `offline_access` everywhere, and with `VENDORS` for that of each vendor: such a
 * word asks for nothing without configured scopes.
 */
export function ignorableScopes({ vendors, nameScopes }: LinkPolicy): readonly string[] {
  return [OFFLINE_ACCESS, ...[...vendors.keys()].flatMap((id) => nameScopes([OFFLINE_ACCESS], id))];
}

/** @param there the scopes that are supported, or those that were granted */
//= rfc6749#3.3
export function withoutIgnored(
  requested: readonly string[],
  ignorable: readonly string[],
  there: readonly string[],
): readonly string[] {
  return requested.filter((scope) => there.includes(scope) || !ignorable.includes(scope));
}

/** `scopes_supported`: all that a session can have. */
export function supportedScopes({ vendors, nameScopes }: LinkPolicy): readonly string[] {
  return [...vendors].flatMap(([id, { scopes }]) => nameScopes(scopes, id));
}

/** @param id undefined: they stay as they are */
export function prefixScopes(vendorScopes: readonly string[], id: string | undefined): readonly string[] {
  return id === undefined ? vendorScopes : vendorScopes.map((scope) => `${id}:${scope}`);
}

/**
 * What a session permits at one vendor, as that vendor's own scopes.
 *
 * @param id undefined: the scopes name no vendor
 */
export function scopesOfVendor(sessionScope: readonly string[], id: string | undefined): readonly string[] {
  if (id === undefined) return sessionScope;
  const prefix = `${id}:`;
  return sessionScope.flatMap((scope) => (scope.startsWith(prefix) ? [scope.slice(prefix.length)] : []));
}

/**
 * What to request at the sign-in vendor so that it identifies the user, and no more: no refresh
 * token. Never beyond the vendor's `VENDOR_<ID>_SCOPES`.
 */
export function identityScopes({ vendor, scopes }: Pick<VendorSettings, "vendor" | "scopes">): readonly string[] {
  const { identity, defaultScopes, offlineScopes } = vendor;
  const isByIdToken = scopes.includes("openid") && (hasIdTokens(vendor) || vendor.userinfoEndpoint !== undefined);
  // Some vendors put the members that identify a user behind `profile`.
  const members = typeof identity === "object" && identity.from === "id_token" ? ["openid", "profile"] : ["openid"];
  const offline = [OFFLINE_ACCESS, ...offlineScopes];
  const identifying = (isByIdToken ? members : defaultScopes).filter((scope) => !offline.includes(scope));
  return identifying.filter((scope) => scopes.includes(scope));
}

/**
 * Adds what the deployment has and a client need not name: `openid` if the vendor has ID tokens,
 * which say whose account it is, and `offline_access`, without which it may give no refresh token.
 */
export function withOwed(
  requested: readonly string[],
  { vendor, scopes }: { readonly vendor: Parameters<typeof hasIdTokens>[0]; readonly scopes: readonly string[] },
): readonly string[] {
  const first = hasIdTokens(vendor) ? ["openid"] : [];
  const owed = (names: readonly string[]): readonly string[] =>
    names.filter((name) => scopes.includes(name) && !requested.includes(name));
  return [...owed(first), ...requested, ...owed([OFFLINE_ACCESS])];
}

/**
 * The scope of a session that begins. At the sign-in vendor it is what the user consented to and
 * the vendor granted; at the others what the user consented to, which a link has to follow.
 *
 * @param granted by the sign-in vendor
 * @param consented as the consent page showed it
 */
export function grantedSessionScope(
  granted: readonly string[],
  consented: readonly string[],
  signIn: string,
): readonly string[] {
  const atSignIn = prefixScopes(granted, signIn);
  return consented.filter((scope) => !scope.startsWith(`${signIn}:`) || atSignIn.includes(scope));
}
