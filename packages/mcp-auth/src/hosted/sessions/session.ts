/**
 * What the token endpoints and `/mcp` know of a session, and what they ask of all sessions;
 * sessions.ts keeps them.
 */
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

export interface Sessions {
  /** After an authorization. @param session its user, client and granted scope */
  start(session: Omit<Session, "id">): Promise<{ readonly session: Session; readonly tokens: IssuedTokens }>;
  /**
   * @returns undefined for anything that is not a live access token of ours: unknown, expired,
   *   revoked, of another type
   */
  identify(accessToken: string): Promise<LiveSession | undefined>;
  /** @returns the session a refresh token belongs to, spending nothing; undefined as `identify` */
  find(refreshToken: string): Promise<Session | undefined>;
  /**
   * Rotates. The immediately previous token gets the identical answer for 30 s; that token later,
   * and any before it, end the session.
   *
   * @throws OAuthError invalid_grant; invalid_scope for more than was granted;
   *   temporarily_unavailable
   */
  refresh(
    refreshToken: string,
    request: { readonly clientId: string; readonly scope: readonly string[] | undefined },
  ): Promise<IssuedTokens>;
  /**
   * RFC 7009: ends the session of either token.
   *
   * @returns its user, and whether no session of that user is left; undefined where there was
   *   nothing of this client's
   */
  revoke(token: string, clientId: string): Promise<{ readonly user: string; readonly wasLast: boolean } | undefined>;
  /** Ends one session by id, as a proven replay demands. */
  end(sessionId: string): Promise<void>;
  /** Ends every session of a user. @returns how many */
  endAll(user: string): Promise<number>;
}
