/**
 * The pair of tokens a session gets at its start and at each refresh: the client's response, and
 * the part the session's record keeps. The response to a refresh is kept for a client that lost it,
 * sealed under a key derived from the spent refresh token. That token is stored nowhere: neither
 * the store nor the server's keys can open the response.
 */
import type { Clock, EpochSeconds } from "@oauth-broker/oauth-core";
import { deriveKey, open, seal } from "@oauth-broker/token-store";
import { type IssuedToken, issueToken, type TokenTagging } from "./issued-token.ts";
import { ACCESS_TOKEN_LIFETIME_SECONDS, type StoredAccessToken } from "./record.ts";

/** RFC 6749 §5.1, before it becomes JSON. */
export interface IssuedTokens extends Omit<RefreshAnswer, "expiresAt"> {
  readonly expiresInSeconds: number;
}

export interface RefreshAnswer {
  readonly accessToken: string;
  readonly refreshToken: string;
  /** The scope of the access token. */
  readonly expiresAt: EpochSeconds;
  readonly scope: readonly string[];
}

export interface IssuedPair {
  /** For the client. */
  readonly answer: RefreshAnswer;
  /** For the record. */
  readonly access: StoredAccessToken;
  readonly refreshHash: string;
}

export interface NewPair extends Pick<IssuedToken, "sessionId" | "generation"> {
  /** The scope of the access token. */
  readonly scope: readonly string[];
  /** The access token ends no later. */
  readonly endsAt: EpochSeconds;
}

export interface Issuing {
  readonly tagging: () => Promise<TokenTagging>;
  readonly now: Clock;
}

/** @throws OAuthError temporarily_unavailable without the server key */
export async function issuePair({ scope, endsAt, ...of }: NewPair, { tagging, now }: Issuing): Promise<IssuedPair> {
  const tags = await tagging();
  const access = issueToken("access", of, tags);
  const refresh = issueToken("refresh", of, tags);
  const expiresAt = Math.min(now() + ACCESS_TOKEN_LIFETIME_SECONDS, endsAt);
  return {
    answer: { accessToken: access.token, refreshToken: refresh.token, expiresAt, scope },
    access: { hash: access.hash, expiresAt },
    refreshHash: refresh.hash,
  };
}

/**
 * @param spent the refresh token
 * @param sessionId the response opens in no other session
 */
export function sealAnswer(answer: RefreshAnswer, spent: string, sessionId: string): string {
  return seal(deriveKey(spent, "session-answer"), JSON.stringify(answer), ["session", sessionId]);
}

/** @throws TokenStoreError unreadable when the record was altered */
export function openAnswer(sealed: string, spent: string, sessionId: string): RefreshAnswer {
  const text = open(deriveKey(spent, "session-answer"), sealed, ["session", sessionId]).toString("utf8");
  return JSON.parse(text) as RefreshAnswer;
}

/** The response as sent now: the token's lifetime has been running since it was issued. */
export function toIssuedTokens({ expiresAt, ...answer }: RefreshAnswer, now: EpochSeconds): IssuedTokens {
  return { ...answer, expiresInSeconds: Math.max(1, expiresAt - now) };
}
