/**
 * The answer to a refresh, kept for a client that lost it. It is sealed under a key derived from the refresh token that was
 * spent for it, which is stored nowhere: neither the store nor the server's keys open it, only who presents that token.
 */
import type { EpochSeconds } from "@oauth-broker/oauth-core";
import { deriveKey, open, seal } from "@oauth-broker/token-store";
import type { IssuedTokens } from "./session.ts";

export interface RefreshAnswer {
  readonly accessToken: string;
  readonly refreshToken: string;
  /** Of the access token. */
  readonly expiresAt: EpochSeconds;
  readonly scope: readonly string[];
}

/** @param spent the refresh token @param sessionId the answer opens in no other session */
export function sealAnswer(answer: RefreshAnswer, spent: string, sessionId: string): string {
  return seal(deriveKey(spent, "session-answer"), JSON.stringify(answer), ["session", sessionId]);
}

/** @throws TokenStoreError unreadable when the record was altered */
export function openAnswer(sealed: string, spent: string, sessionId: string): RefreshAnswer {
  const text = open(deriveKey(spent, "session-answer"), sealed, ["session", sessionId]).toString("utf8");
  return JSON.parse(text) as RefreshAnswer;
}

/** As it goes out now: the token's life has been running since it was issued. */
export function toIssuedTokens({ expiresAt, ...answer }: RefreshAnswer, now: EpochSeconds): IssuedTokens {
  return { ...answer, expiresInSeconds: Math.max(1, expiresAt - now) };
}
