/**
 * A tool that does not name its scopes can use everything the user's vendor token permits, which
 * may be more than the bearer token permits: all sessions of a user share one vendor token. Such a
 * tool runs only when the bearer token permits as much.
 */
import type { ScopeChallengeHandler } from "@modelcontextprotocol/server";
import { scopesOfResource } from "../../resource/scopes.ts";
import type { Caller } from "../../mode.ts";
import { requestOf } from "./auth-info.ts";

/**
 * @param asked the scopes the client is asked to request; empty: all that the vendor token permits
 */
export function requireWholeToken(asked: readonly string[]): ScopeChallengeHandler {
  return ({ authInfo }) => {
    if (authInfo === undefined) return undefined;
    const { scope, vendorScope } = requestOf(authInfo).caller;
    const ofVendor = scopesOfResource(vendorScope ?? []);
    if (permitsWholeToken({ scope, vendorScope: ofVendor })) return undefined;
    const [first, ...others] = asked.length > 0 ? asked : ofVendor;
    return first === undefined ? undefined : { scopes: [first, ...others] };
  };
}

export function permitsWholeToken({ scope, vendorScope = [] }: Pick<Caller, "scope" | "vendorScope">): boolean {
  //= bar#RS-3
  return scope === undefined || vendorScope.every((token) => scope.includes(token));
}
