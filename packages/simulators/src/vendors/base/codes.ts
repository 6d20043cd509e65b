/**
 * Authorization codes: random, short-lived, valid once, for their app, callback and verifier (RFC
 * 7636 4.6). The response to a bad one differs by vendor.
 */
import { createHash, randomBytes } from "node:crypto";
import type { Clock } from "../../clock.ts";
import { isSameText } from "./clients.ts";
import type { Members } from "./members.ts";
import type { SimulatedClient } from "./simulator.ts";
import type { Grant } from "./tokens.ts";

export interface Challenge {
  readonly challenge: string;
  readonly method: "S256" | "plain";
}

/** What a code was issued for; vendors add their own. */
export interface Bound {
  readonly grant: Grant;
  readonly redirectUri: string;
  readonly challenge?: Challenge | undefined;
}

/** What is wrong with a code, or with its request. */
export type CodeMistake = "unknown" | "spent" | "expired" | "redirect_uri" | "verifier";

export interface Redemption<B extends Bound, Answer> {
  /** @param bound undefined for a code that this app never got */
  readonly refuse: (mistake: CodeMistake, bound?: B) => Answer;
  /** The vendor's own conditions: a code that they refuse stays good. */
  readonly check?: (bound: B) => Answer | undefined;
  readonly answer: (bound: B) => Answer;
}

export type Codes<B extends Bound> = ReturnType<typeof createCodes<B>>;

const LIFETIME_SECONDS = 600;

/** @param isRepeated whether the callback of a token request is the code's; by default exactly */
export function createCodes<B extends Bound>(
  { now }: { readonly now: Clock },
  isRepeated: (bound: B, sent: string | undefined) => boolean = ({ redirectUri }, sent) => sent === redirectUri,
) {
  const codes = new Map<string, { readonly bound: B; readonly expiresAt: number; isSpent: boolean }>();
  return {
    /** @returns a new code for the approved request */
    issue(bound: B): string {
      const code = randomBytes(24).toString("base64url");
      codes.set(code, { bound, expiresAt: now() + LIFETIME_SECONDS, isSpent: false });
      return code;
    },
    /** Spends the code of a token request, unless that is refused. */
    redeem<Answer>(members: Members, client: SimulatedClient, how: Redemption<B, Answer>): Answer {
      const { refuse, check, answer } = how;
      const held = codes.get(members.get("code") ?? "");
      if (held?.bound.grant.clientId !== client.clientId) return refuse("unknown");
      const { bound, expiresAt, isSpent } = held;
      if (isSpent) return refuse("spent", bound);
      if (expiresAt <= now()) return refuse("expired", bound);
      if (!isRepeated(bound, members.get("redirect_uri"))) return refuse("redirect_uri", bound);
      if (!isVerifiedBy(bound.challenge, members.get("code_verifier"))) return refuse("verifier", bound);
      const refused = check?.(bound);
      if (refused !== undefined) return refused;
      held.isSpent = true;
      return answer(bound);
    },
  };
}

/** That of an authorization request; any method but S256 is read as plain. */
export function challengeOf(query: Members): Challenge | undefined {
  const challenge = query.get("code_challenge");
  const method = query.get("code_challenge_method") === "S256" ? "S256" : "plain";
  return challenge === undefined ? undefined : { challenge, method };
}

/** Also false for a verifier without challenge and the other way round (RFC 9700 4.8.2). */
function isVerifiedBy(challenge: Challenge | undefined, verifier: string | undefined): boolean {
  if (challenge === undefined || verifier === undefined) return challenge === undefined && verifier === undefined;
  const derived = challenge.method === "plain" ? verifier : createHash("sha256").update(verifier).digest("base64url");
  return isSameText(derived, challenge.challenge);
}
