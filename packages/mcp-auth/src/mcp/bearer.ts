/** The bearer check of `/mcp`, in either mode: a token from the Authorization header, and nowhere else, becomes a caller. */
import { defined } from "@oauth-broker/oauth-core";
import type { Answer } from "@oauth-broker/oauth-core/http";
import { bearerChallenge, bearerToken } from "@oauth-broker/oauth-core/http";
import type { Caller } from "../mode.ts";
import type { AddressedGate } from "./refused-tokens.ts";

export interface BearerDeps {
  readonly gate: AddressedGate;
  /** Where the resource describes itself; absent in pre-registered mode, which describes nothing. */
  readonly resourceMetadata: string | undefined;
  /** What a client should ask for, space-separated; empty: nothing to say. */
  readonly scope: string;
}

/**
 * @param header the Authorization header as received
 * @param address whose request it is
 * @returns the caller, or the challenge to answer with
 * @throws OAuthError temporarily_unavailable, slow_down
 */
//= bar#RS-1
//= bar#RS-2
//= bar#RS-4
export async function requireCaller(
  header: string | undefined,
  address: string,
  { gate, resourceMetadata, scope }: BearerDeps,
): Promise<{ readonly caller: Caller } | { readonly challenge: Answer }> {
  const hints = {
    ...defined({ resourceMetadata }),
    ...(scope === "" ? {} : { scope }),
  };
  const token = bearerToken(header);
  // rfc6750#3.1: who brought no token made no mistake that could be named.
  if (token === undefined) return { challenge: bearerChallenge(hints) };
  const caller = await gate.identify(token, address);
  if (caller !== undefined) return { caller };
  const error = { code: "invalid_token", description: "The token is unknown, expired or revoked" } as const;
  return { challenge: bearerChallenge({ ...hints, error }) };
}
