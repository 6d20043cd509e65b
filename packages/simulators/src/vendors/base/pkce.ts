/** Proof Key for Code Exchange from the vendor's side (RFC 7636 4.6). */
import { createHash } from "node:crypto";
import { isSameText } from "./clients.ts";
import type { Members } from "./members.ts";

export interface Challenge {
  readonly challenge: string;
  readonly method: "S256" | "plain";
}

/** That of an authorization request; any method but S256 is read as plain. */
export function challengeOf(query: Members): Challenge | undefined {
  const challenge = query.get("code_challenge");
  const method = query.get("code_challenge_method") === "S256" ? "S256" : "plain";
  return challenge === undefined ? undefined : { challenge, method };
}

/**
 * Also false for a verifier without challenge and the other way round (downgrade, RFC 9700 4.8.2).
 */
export function isVerifiedBy(challenge: Challenge | undefined, verifier: string | undefined): boolean {
  if (challenge === undefined || verifier === undefined) return challenge === undefined && verifier === undefined;
  const derived = challenge.method === "plain" ? verifier : createHash("sha256").update(verifier).digest("base64url");
  return isSameText(derived, challenge.challenge);
}
