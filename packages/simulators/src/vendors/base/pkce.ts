/** Proof Key for Code Exchange from the vendor's side (RFC 7636 4.6). */
import { createHash } from "node:crypto";
import { isSameText } from "./clients.ts";

export interface Challenge {
  readonly challenge: string;
  readonly method: "S256" | "plain";
}

/**
 * Also false for a verifier without challenge and the other way round (downgrade, RFC 9700 4.8.2).
 */
export function isVerifiedBy(challenge: Challenge | undefined, verifier: string | undefined): boolean {
  if (challenge === undefined || verifier === undefined) return challenge === undefined && verifier === undefined;
  const derived = challenge.method === "plain" ? verifier : createHash("sha256").update(verifier).digest("base64url");
  return isSameText(derived, challenge.challenge);
}
