/** What the token endpoints and `/mcp` say to each other about a client's session; sessions.ts keeps them. */
import type { EpochSeconds } from "@oauth-broker/oauth-core";

/** One client acting for one user. Its life is apart from that of the user's link to the vendor. */
export interface Session {
  readonly id: string;
  /** Stable identity at the vendor. */
  readonly user: string;
  readonly clientId: string;
  readonly scope: readonly string[];
}

/** RFC 6749 §5.1, before it becomes JSON. */
export interface IssuedTokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly expiresInSeconds: number;
  readonly scope: readonly string[];
}

export interface LiveSession extends Session {
  /** Of the access token that was presented. */
  readonly expiresAt: EpochSeconds;
}
