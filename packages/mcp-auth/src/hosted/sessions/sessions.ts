/** The sessions of hosted mode. */
import type { IssuedTokens, LiveSession, Session } from "./session.ts";

export interface Sessions {
  /** After an authorization. @param session its user, client and granted scope */
  start(session: Omit<Session, "id">): Promise<{ readonly session: Session; readonly tokens: IssuedTokens }>;
  /** @returns undefined for anything that is not a live access token of ours: unknown, expired, revoked, of another type */
  identify(accessToken: string): Promise<LiveSession | undefined>;
  /** @returns the session a refresh token belongs to, spending nothing; undefined as `identify` */
  find(refreshToken: string): Promise<Session | undefined>;
  /**
   * Rotates. The immediately previous token gets the identical answer for 30 s; that token later, and any before it, end the
   * session.
   *
   * @throws OAuthError invalid_grant; invalid_scope for more than was granted; temporarily_unavailable
   */
  refresh(
    refreshToken: string,
    request: { readonly clientId: string; readonly scope: readonly string[] | undefined },
  ): Promise<IssuedTokens>;
  /**
   * RFC 7009: ends the session of either token.
   *
   * @returns its user, and whether no session of that user is left; undefined where there was nothing of this client's
   */
  revoke(token: string, clientId: string): Promise<{ readonly user: string; readonly wasLast: boolean } | undefined>;
  /** Ends one session by id, as a proven replay demands. */
  end(sessionId: string): Promise<void>;
  /** Ends every session of a user. @returns how many */
  endAll(user: string): Promise<number>;
}
