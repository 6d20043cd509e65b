/**
 * PKCE, both halves: the verifier we create towards a vendor (PKCE #2) and the challenge a client
 * binds its code to (PKCE #1). Used at /v1/par and /authorize (challenge in), at the vendor's
 * authorization URL (challenge out) and in both token requests.
 */
import { hash, randomBytes } from "node:crypto";
import { OAuthError } from "./errors.ts";
import { hmac } from "./mac.ts";
import { isSameText } from "./secret.ts";

const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

/** A fresh verifier: 43 characters, 32 bytes from the system's random generator (bar VR-1). */
//= rfc7636#4.1
export function createCodeVerifier(): string {
  return randomBytes(32).toString("base64url");
}

/**
 * The verifier of one flow, derived from a server key, so that nothing needs to be stored between
 * its two legs.
 *
 * @param key at least 32 random bytes, used for this purpose only
 * @param flowId unique per flow; the same id always gives the same 43 characters
 */
export function deriveCodeVerifier(key: Buffer, flowId: string): string {
  return hmac("sha256", key, `pkce\0${flowId}`).toString("base64url");
}

/** BASE64URL(SHA-256(ASCII(code_verifier))), 43 characters. */
//= rfc7636#4.2
export function deriveCodeChallenge(codeVerifier: string): string {
  return hash("sha256", codeVerifier, "base64url");
}

/**
 * The challenge of an authorization request. `plain`, and the absent method that means `plain`, are
 * refused.
 *
 * @returns the challenge, 43 characters of base64url
 * @throws OAuthError invalid_request
 */
export function requireS256Challenge(codeChallenge: string | undefined, method: string | undefined): string {
  //= rfc7636#4.4.1
  if (codeChallenge === undefined) throw new OAuthError("invalid_request", "code_challenge is missing");
  //= bar#ST-3
  if (method !== "S256") throw new OAuthError("invalid_request", "code_challenge_method must be S256");
  //= bar#ST-3
  if (!CHALLENGE.test(codeChallenge)) {
    throw new OAuthError("invalid_request", "code_challenge must be 43 characters of base64url");
  }
  return codeChallenge;
}

/**
 * The verifier of a token request, checked for its format only: a malformed one does not burn the
 * code.
 *
 * @throws OAuthError invalid_grant when absent: the code was issued for a challenge;
 *   invalid_request when shorter than 43, longer than 128 or outside the unreserved characters
 */
export function parseCodeVerifier(value: string | undefined): string {
  if (value === undefined) throw new OAuthError("invalid_grant", "code_verifier is missing");
  //= rfc7636#4.1
  if (!VERIFIER.test(value)) {
    throw new OAuthError("invalid_request", "code_verifier must be 43 to 128 unreserved characters");
  }
  return value;
}

/**
 * Checks the code_verifier a client redeems against the challenge its code was issued for.
 *
 * @param codeVerifier 43–128 unreserved characters, as received
 * @param codeChallenge BASE64URL(SHA-256(verifier)), 43 characters, from the stored code
 * @throws OAuthError invalid_grant when they differ
 * @see rfc7636#4.6
 */
export function verifyCodeVerifier(codeVerifier: string, codeChallenge: string): void {
  //= rfc7636#4.6
  if (!isSameText(deriveCodeChallenge(codeVerifier), codeChallenge)) {
    throw new OAuthError("invalid_grant", "code_verifier does not match code_challenge");
  }
}
