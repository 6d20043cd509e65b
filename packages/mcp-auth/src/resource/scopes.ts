/** What this server names as the resource, in its metadata and in the challenges of `/mcp`. */

/**
 * A refresh token is between the client and the authorization server, and every client gets one:
 * asked for if the vendor does not have it, the word asks for nothing.
 */
export const OFFLINE_ACCESS = "offline_access";

/**
 * @param scopes of a session, or of a vendor
 * @returns without any vendor's `offline_access`
 */
//= bar#AS-17
export function scopesOfResource(scopes: readonly string[]): readonly string[] {
  return scopes.filter((scope) => scope !== OFFLINE_ACCESS && !scope.endsWith(`:${OFFLINE_ACCESS}`));
}
