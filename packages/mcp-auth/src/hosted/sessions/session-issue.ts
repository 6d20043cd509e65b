/** The pair of tokens a session gets when it starts and at each refresh, and what its record keeps of them. */
import type { Clock } from "@oauth-broker/oauth-core";
import { issueToken } from "./issued-token.ts";
import type { TokenTagging } from "./issued-token-tag.ts";
import type { RefreshAnswer } from "./session-answer.ts";
import { ACCESS_TOKEN_LIFETIME_SECONDS, type StoredAccessToken } from "./record.ts";

export interface IssuedPair {
  /** For the client. */
  readonly answer: RefreshAnswer;
  /** For the record. */
  readonly access: StoredAccessToken;
  readonly refreshHash: string;
}

/** @throws OAuthError temporarily_unavailable without the server key */
export type IssueTokens = (of: {
  readonly sessionId: string;
  readonly generation: number;
  /** Of the access token. */
  readonly scope: readonly string[];
}) => Promise<IssuedPair>;

export function createIssuer({
  tagging,
  now,
}: {
  readonly tagging: () => Promise<TokenTagging>;
  readonly now: Clock;
}): IssueTokens {
  return async ({ scope, ...of }) => {
    const tags = await tagging();
    const access = issueToken("access", of, tags);
    const refresh = issueToken("refresh", of, tags);
    const expiresAt = now() + ACCESS_TOKEN_LIFETIME_SECONDS;
    return {
      answer: { accessToken: access.token, refreshToken: refresh.token, expiresAt, scope },
      access: { hash: access.hash, expiresAt },
      refreshHash: refresh.hash,
    };
  };
}
