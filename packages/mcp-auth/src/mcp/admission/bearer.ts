/**
 * The bearer check of `/mcp`, in either mode: a token from the Authorization header, and nowhere
 * else, is resolved to a caller.
 */
import { defined, toOAuthError } from "@oauth-broker/oauth-core";
import { type Answer, bearerChallenge, bearerToken } from "@oauth-broker/oauth-core/http";
import { type Caller, toOutage } from "../../mode.ts";
import type { AuthenticateFrom } from "./refused-tokens.ts";

export interface BearerDeps {
  readonly authenticate: AuthenticateFrom;
  /** The URL of the resource's metadata; absent in pre-registered mode, which publishes none. */
  readonly resourceMetadata: string | undefined;
  /** The scope a client should request, space-separated; empty: left out. */
  readonly scope: string;
}

/**
 * @param header the Authorization header as received
 * @param address of the caller
 * @returns the caller, or the challenge to respond with
 * @throws OAuthError temporarily_unavailable, slow_down
 */
//= bar#RS-1
//= bar#RS-2
//= bar#RS-4
export async function requireCaller(
  header: string | undefined,
  address: string,
  { authenticate, resourceMetadata, scope }: BearerDeps,
): Promise<{ readonly caller: Caller } | { readonly challenge: Answer }> {
  const hints = {
    ...defined({ resourceMetadata }),
    ...(scope === "" ? {} : { scope }),
  };
  const token = bearerToken(header);
  // rfc6750#3.1: a request without a token gets no error code.
  if (token === undefined) return { challenge: bearerChallenge(hints) };
  const challengeFor = (code: keyof typeof DESCRIPTIONS): { readonly challenge: Answer } => ({
    challenge: bearerChallenge({ ...hints, error: { code, description: DESCRIPTIONS[code] } }),
  });
  try {
    const caller = await authenticate(token, address);
    return caller === undefined ? challengeFor("invalid_token") : { caller };
  } catch (error) {
    // A 401 would make the client refresh a token that is good, and end here again.
    if (toOAuthError(error).extras.vendorError === "insufficient_scope") return challengeFor("insufficient_scope");
    throw toOutage(error, "The token cannot be checked now");
  }
}

/** By the code of the challenge. */
//= rfc6750#3.1
const DESCRIPTIONS = {
  invalid_token: "The token is unknown, expired or revoked",
  insufficient_scope: "The token lacks a scope to read the account of its user at the vendor",
} as const;
