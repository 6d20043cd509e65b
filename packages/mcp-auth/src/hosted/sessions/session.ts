/** The interface of sessions for the token endpoints and `/mcp`; sessions.ts implements it. */
import type { EpochSeconds } from "@oauth-broker/oauth-core";

/** One client acting for one user. Its lifetime does not depend on the link to the vendor. */
export interface Session {
  readonly id: string;
  /** Stable identity at the vendor. */
  readonly user: string;
  readonly clientId: string;
  readonly scope: readonly string[];
}

export interface NewSession extends Omit<Session, "id"> {
  /**
   * With `VENDORS`: the scope that the consent page showed. `scope` is then what the sign-in vendor
   * granted.
   */
  readonly consented?: readonly string[];
}

/** RFC 6749 §5.1, before it becomes JSON. */
export interface IssuedTokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly expiresInSeconds: number;
  readonly scope: readonly string[];
}

export interface LiveSession extends Session {
  /** When it ends, for the presented access token. */
  readonly expiresAt: EpochSeconds;
}

export interface RefreshRequest {
  readonly clientId: string;
  /** Absent or empty: all that was granted. */
  readonly scope: readonly string[] | undefined;
  /** Those that ask for nothing if the session does not have them. Default none. */
  readonly ignorable?: readonly string[];
}

export interface Sessions {
  /** After an authorization. @param session its user, client and scope */
  start(session: NewSession): Promise<{ readonly session: Session; readonly tokens: IssuedTokens }>;
  /**
   * @returns undefined for anything that is not one of our live access tokens: unknown, expired,
   *   revoked, of another type
   */
  identify(accessToken: string): Promise<LiveSession | undefined>;
  /** @returns the session of a refresh token, without spending it; undefined as `identify` */
  find(refreshToken: string): Promise<Session | undefined>;
  /**
   * Rotates. The previous token gets the identical response for 30 s; later than that, and with any
   * older token, the session ends.
   *
   * @throws OAuthError invalid_grant; invalid_scope for more than was granted;
   *   temporarily_unavailable
   */
  refresh(refreshToken: string, request: RefreshRequest): Promise<IssuedTokens>;
  /**
   * RFC 7009: ends the session of either token.
   *
   * @returns its user, and whether that user has no session left; undefined when the token is not
   *   of this client
   */
  revoke(token: string, clientId: string): Promise<{ readonly user: string; readonly wasLast: boolean } | undefined>;
  /** Ends one session by id, after a proven replay. */
  end(sessionId: string): Promise<void>;
  /** Ends every session of a user. @returns how many */
  endAll(user: string): Promise<number>;
}
