/**
 * The sessions of hosted mode on a RecordStore. A session is one record
 * (record.ts), found by the id in its tokens (issued-token.ts), listed in its user's index
 * (user-sessions.ts). Nothing is cached: a session ended by any process is ended here.
 */
import { type EpochSeconds, OAuthError } from "@oauth-broker/oauth-core";
import {
  createSessionId,
  type IssuedToken,
  looksIssued,
  parseIssuedToken,
  type TokenTagging,
  type TokenType,
} from "./issued-token.ts";
import { type IssuedTokens, issuePair, toIssuedTokens } from "./token-pair.ts";
import {
  endStored,
  liveAccessToken,
  readSession,
  REFRESH_TOKEN_LIFETIME_SECONDS,
  type SessionData,
  sessionKey,
  standingOf,
  type StoredSession,
} from "./record.ts";
import { type RefreshRequest, refreshSession } from "./refresh-session.ts";
import { createUserSessions, type UserSessionsDeps } from "./user-sessions.ts";

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

export interface LiveSession extends Session {
  /** When it ends, for the presented access token. */
  readonly expiresAt: EpochSeconds;
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

export function createSessions(deps: UserSessionsDeps): Sessions {
  const { records, serverKey, audience, source, signInGeneration, now, links } = deps;
  const tagging = async (): Promise<TokenTagging> => ({ key: await serverKey.derive("token-tag"), audience });
  const parse = async (type: TokenType, token: string): Promise<IssuedToken | undefined> =>
    looksIssued(type, token) ? parseIssuedToken(type, token, await tagging()) : undefined;
  /** A token that this server issued, and its session, live or not. */
  const locate = async (type: TokenType, token: string) => {
    const presented = await parse(type, token);
    const session = presented === undefined ? undefined : await readSession(presented.sessionId, deps);
    return presented === undefined || session === undefined ? undefined : { type, presented, session };
  };
  const userSessions = createUserSessions(deps);
  const end = async ({ id, user }: Session): Promise<void> => {
    await endStored(id, { records, now });
    await userSessions.remove(user, id);
  };

  return {
    start: async ({ user, clientId, consented, scope: granted }) => {
      const scope = consented === undefined ? granted : links.grantedScope(granted, consented);
      const id = createSessionId();
      const startedAt = now();
      const endsAt = startedAt + links.sessionMaxSeconds;
      const { answer, access, refreshHash } = await issuePair(
        { sessionId: id, generation: 0, scope, endsAt },
        { tagging, now },
      );
      // First: a session that the index does not list would survive the end of all sessions.
      const indexedUntil = await userSessions.add(user, id);
      const data: SessionData = {
        v: 2,
        ...source,
        signInGeneration: await signInGeneration(),
        user,
        clientId,
        ...links.sessionMark,
        scope,
        access: [access],
        refreshHash,
        generation: 0,
        startedAt,
        indexedUntil,
      };
      const expiresAt = Math.min(now() + REFRESH_TOKEN_LIFETIME_SECONDS, endsAt);
      if ((await records.create({ key: sessionKey(id), stage: "live", data, expiresAt })) === "exists") {
        throw new OAuthError("invalid_grant", "The authorization was ended", {
          detail: "all sessions of the user were ended while this one began",
        });
      }
      return { session: { id, user, clientId, scope }, tokens: toIssuedTokens(answer, now()) };
    },

    identify: async (accessToken) => {
      //= bar#RS-2
      const located = await locate("access", accessToken);
      if (located?.session.isLive !== true) return undefined;
      const { presented, session } = located;
      const access = liveAccessToken(presented, session, now());
      return access && { ...toSession(session), ...access };
    },

    find: async (refreshToken) => {
      const located = await locate("refresh", refreshToken);
      if (located?.session.isLive !== true) return undefined;
      const { presented, session } = located;
      return standingOf(presented, session) === "unknown" ? undefined : toSession(session);
    },

    refresh: async (refreshToken, request) => {
      const presented = await parse("refresh", refreshToken);
      if (presented === undefined) {
        throw new OAuthError("invalid_grant", "The refresh token is not valid", { detail: "it is not one of ours" });
      }
      return refreshSession(refreshToken, presented, request, { ...deps, tagging, end, index: userSessions });
    },

    revoke: async (token, clientId) => {
      const located = (await locate("refresh", token)) ?? (await locate("access", token));
      //= bar#AS-21
      if (located === undefined || located.session.clientId !== clientId) return undefined;
      const { type, presented, session } = located;
      const isOurs =
        type === "access"
          ? liveAccessToken(presented, session, now()) !== undefined
          : standingOf(presented, session) !== "unknown";
      if (!isOurs) return undefined;
      await endStored(session.id, { records, now });
      return { user: session.user, wasLast: await userSessions.remove(session.user, session.id) };
    },

    end: async (sessionId) => {
      const session = await readSession(sessionId, deps);
      if (session !== undefined) await end(session);
    },

    endAll: async (user) => (await userSessions.endAll(user)).ended,
  };
}

function toSession({ id, user, clientId, scope }: StoredSession): Session {
  return { id, user, clientId, scope };
}
