/**
 * The sessions of hosted mode on a RecordStore: implements session.ts. A session is one record
 * (record.ts), found by the id in its tokens (issued-token.ts), listed in its user's index
 * (user-sessions.ts). Nothing is cached: a session ended by any process is ended here.
 */
import { OAuthError } from "@oauth-broker/oauth-core";
import {
  createSessionId,
  isTokenTag,
  type IssuedToken,
  looksIssued,
  parseIssuedToken,
  type TokenTagging,
  type TokenType,
} from "./issued-token.ts";
import { createIssuer, toIssuedTokens } from "./token-pair.ts";
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
import { refreshSession } from "./refresh.ts";
import type { Session, Sessions } from "./session.ts";
import { createUserSessions, type UserSessionsDeps } from "./user-sessions.ts";

/**
 * The checks that decide whether a presented token is valid. The twins pass weaker ones:
 * docs/decisions/0006.
 */
export interface SessionChecks {
  readonly isTokenTag: typeof isTokenTag;
  readonly standingOf: typeof standingOf;
}

export const SESSION_CHECKS: SessionChecks = { isTokenTag, standingOf };

export function createSessions(
  { records, serverKey, audience, source, signInGeneration, now, links }: UserSessionsDeps,
  checks: SessionChecks = SESSION_CHECKS,
): Sessions {
  const reading = { records, source, signInGeneration, now, links };
  const tagging = async (): Promise<TokenTagging> => ({ key: await serverKey.derive("token-tag"), audience });
  const parse = async (type: TokenType, token: string): Promise<IssuedToken | undefined> =>
    looksIssued(type, token) ? parseIssuedToken(type, token, await tagging(), checks.isTokenTag) : undefined;
  const issue = createIssuer({ tagging, now });
  const userSessions = createUserSessions({ ...reading, audience, serverKey });
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
      const { answer, access, refreshHash } = await issue({ sessionId: id, generation: 0, scope, endsAt });
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
      const presented = await parse("access", accessToken);
      if (presented === undefined) return undefined;
      const session = await readSession(presented.sessionId, reading);
      if (session === undefined || !session.isLive) return undefined;
      const access = liveAccessToken(presented, session, now());
      if (access === undefined) return undefined;
      return { ...toSession(session), scope: access.scope, expiresAt: access.expiresAt };
    },

    find: async (refreshToken) => {
      const presented = await parse("refresh", refreshToken);
      const session = presented === undefined ? undefined : await readSession(presented.sessionId, reading);
      if (presented === undefined || session === undefined || !session.isLive) return undefined;
      return checks.standingOf(presented, session) === "unknown" ? undefined : toSession(session);
    },

    refresh: async (refreshToken, request) => {
      const presented = await parse("refresh", refreshToken);
      if (presented === undefined) {
        throw new OAuthError("invalid_grant", "The refresh token is not valid", { detail: "it is not one of ours" });
      }
      const index = userSessions;
      return refreshSession(refreshToken, presented, request, { ...reading, ...checks, issue, end, index });
    },

    revoke: async (token, clientId) => {
      const refresh = await parse("refresh", token);
      const presented = refresh ?? (await parse("access", token));
      if (presented === undefined) return undefined;
      const session = await readSession(presented.sessionId, reading);
      //= bar#AS-21
      if (session === undefined || session.clientId !== clientId) return undefined;
      const isOurs =
        refresh === undefined
          ? liveAccessToken(presented, session, now()) !== undefined
          : checks.standingOf(presented, session) !== "unknown";
      if (!isOurs) return undefined;
      await endStored(session.id, { records, now });
      return { user: session.user, wasLast: await userSessions.remove(session.user, session.id) };
    },

    end: async (sessionId) => {
      const session = await readSession(sessionId, reading);
      if (session !== undefined) await end(session);
    },

    endAll: async (user) => (await userSessions.endAll(user)).ended,
  };
}

function toSession({ id, user, clientId, scope }: StoredSession): Session {
  return { id, user, clientId, scope };
}
