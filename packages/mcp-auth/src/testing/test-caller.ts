/**
 * A bearer check whose tokens are words, for tests of the code behind it: `alice` calls with the
 * token of Alice.
 */
import { Secret } from "@oauth-broker/oauth-core";
import type { Caller, Authenticate } from "../mode.ts";

export interface TestCaller {
  readonly scope?: readonly string[];
  /** Default: the same as `scope`. */
  readonly vendorScope?: readonly string[];
  /** In order: the first is used until it is refused. */
  readonly vendorTokens: readonly string[];
}

export function testAuthenticate(
  callers: Readonly<Record<string, TestCaller>>,
): Authenticate & { readonly refusals: string[] } {
  const refusals: string[] = [];
  const authenticate: Authenticate = async (bearer) => {
    const known = callers[bearer];
    return known === undefined ? undefined : callerOf(bearer, known, refusals);
  };
  return Object.assign(authenticate, { refusals });
}

function callerOf(user: string, { scope, vendorScope = scope, vendorTokens }: TestCaller, refusals: string[]): Caller {
  const tokenAt = (index: number) => {
    const value = vendorTokens[index];
    return value === undefined ? undefined : { accessToken: new Secret(value), version: index };
  };
  return {
    user,
    scope,
    vendorScope,
    expiresAt: 4_000_000_000,
    clientId: "client",
    vendorToken: async () => {
      const first = tokenAt(0);
      if (first === undefined) throw new Error("no token");
      return first;
    },
    refused: async ({ version }) => {
      refusals.push(`${user}/${version}`);
      return tokenAt(version + 1);
    },
  };
}
