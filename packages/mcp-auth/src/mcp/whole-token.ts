/**
 * A tool that does not name its scopes can use all that the user's vendor token is good for, and that may be more than the bearer
 * token permits: the vendor token is one for all of a user's sessions. Such a tool runs where the bearer token permits as much.
 */
import type { AuthInfo, ScopeChallengeHandler } from "@modelcontextprotocol/server";
import type { Caller } from "../mode.ts";

/** @param asked what the client is told to ask for; empty: all that the vendor token is good for */
export function requireWholeToken(asked: readonly string[]): ScopeChallengeHandler {
  return ({ authInfo }) => {
    if (authInfo === undefined) return undefined;
    const caller = callerIn(authInfo);
    if (permitsWholeToken(caller)) return undefined;
    const [first, ...others] = asked.length > 0 ? asked : (caller.vendorScope ?? []);
    return first === undefined ? undefined : { scopes: [first, ...others] };
  };
}

export function permitsWholeToken({ scope, vendorScope = [] }: Pick<Caller, "scope" | "vendorScope">): boolean {
  return scope === undefined || vendorScope.every((token) => scope.includes(token));
}

/** As `/mcp` put it there. */
export function callerIn(authInfo: AuthInfo | undefined): Caller {
  const caller = authInfo?.extra?.["caller"];
  if (caller === undefined) throw new TypeError("a tool was called without a caller");
  return caller as Caller;
}
