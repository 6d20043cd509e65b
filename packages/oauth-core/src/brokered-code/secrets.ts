/**
 * PKCE #2 and the OpenID nonce of a flow, derived from a server key and the name of the flow.
 * Neither is stored, a reload gives the same URL, and every process derives the same values.
 */
import { hmacSha256 } from "../protocol/mac.ts";
import { deriveCodeChallenge, deriveCodeVerifier } from "../protocol/pkce.ts";
import { hasIdTokens } from "../vendor-client/issuer.ts";
import type { ResolvedVendor } from "../vendors/vendor.ts";

/** PKCE (RFC 7636) and the OpenID nonce of one flow. */
export interface FlowSecrets {
  /** Absent when the vendor does not support PKCE. */
  readonly codeVerifier?: string;
  /** By the vendor's method; for `plain` it is the verifier. */
  readonly codeChallenge?: string;
  /** Present when the vendor must return an ID token. */
  readonly nonce?: string;
}

/** Server keys of at least 32 random bytes each, used for no other purpose. */
export interface FlowKeys {
  readonly pkce: Buffer;
  readonly nonce: Buffer;
}

/**
 * @param name the flow's id, or PKCE #1 when there is no record
 * @param scope requested at the vendor
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
    ...(isIdTokenDue(vendor, scope) ? { nonce: hmacSha256(keys.nonce, `nonce\0${name}`).toString("base64url") } : {}),
  };
}

/**
 * Whether the vendor must return an ID token: it issues them, and `openid` is among the scopes
 * (OpenID Connect Core §3.1.2.1).
 */
export function isIdTokenDue(
  vendor: Pick<ResolvedVendor, "issuer" | "issuesIdTokens">,
  scope: readonly string[],
): boolean {
  return hasIdTokens(vendor) && scope.includes("openid");
}

/** PKCE #2 by the vendor's method. */
export function challengeFor({ pkce }: Pick<ResolvedVendor, "pkce">, codeVerifier: string): string {
  return pkce === "plain" ? codeVerifier : deriveCodeChallenge(codeVerifier);
}
