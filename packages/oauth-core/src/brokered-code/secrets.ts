/**
 * PKCE #2 and the OpenID nonce of a flow: derived from a server key and what names the flow, so that neither is ever stored,
 * a reload gives the same vendor URL, and every process derives the same.
 */
import { createHmac } from "node:crypto";
import { deriveCodeChallenge, deriveCodeVerifier } from "../protocol/pkce.ts";
import { hasIdTokens } from "../vendor-client/token/response.ts";
import type { ResolvedVendor } from "../vendors/vendor.ts";

/** What a flow shows the vendor and proves there: PKCE (RFC 7636) and the OpenID nonce. */
export interface FlowSecrets {
  /** Absent where the vendor has no PKCE. */
  readonly codeVerifier?: string;
  /** As the vendor wants it: for `plain` the verifier. */
  readonly codeChallenge?: string;
  /** Present where an ID token is due. */
  readonly nonce?: string;
}

/** Server keys, at least 32 random bytes each, used for nothing else. */
export interface FlowKeys {
  readonly pkce: Buffer;
  readonly nonce: Buffer;
}

/**
 * @param name of the flow: its id, or PKCE #1 where no record exists
 * @param scope asked at the vendor
 */
//= bar#VR-1
//= bar#VR-3
export function flowSecrets(
  keys: FlowKeys,
  name: string,
  vendor: ResolvedVendor,
  scope: readonly string[],
): FlowSecrets {
  const codeVerifier = vendor.pkce === "none" ? undefined : deriveCodeVerifier(keys.pkce, name);
  return {
    ...(codeVerifier === undefined ? {} : { codeVerifier, codeChallenge: challengeFor(vendor, codeVerifier) }),
    ...(isIdTokenDue(vendor, scope)
      ? { nonce: createHmac("sha256", keys.nonce).update(`nonce\0${name}`).digest("base64url") }
      : {}),
  };
}

/**
 * Whether the vendor owes an ID token: it issues them, and `openid` is among the scopes (OpenID
 * Connect Core §3.1.2.1).
 */
export function isIdTokenDue(
  vendor: Pick<ResolvedVendor, "issuer" | "issuesIdTokens">,
  scope: readonly string[],
): boolean {
  return hasIdTokens(vendor) && scope.includes("openid");
}

/** PKCE #2 as the vendor wants it. */
export function challengeFor({ pkce }: Pick<ResolvedVendor, "pkce">, codeVerifier: string): string {
  return pkce === "plain" ? codeVerifier : deriveCodeChallenge(codeVerifier);
}
