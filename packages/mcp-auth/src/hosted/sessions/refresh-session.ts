/**
 * A refresh: the refresh token is spent and replaced by one conditional write on the token that was
 * read. One of any number of callers with one token writes; the others find theirs to be the
 * previous one and get the same response.
 *
 * A client may lose a response, and several processes of one client may refresh at once; a thief
 * may come later with a copy. So the previous token gets its response again for a while, until its
 * successor is spent; after that, and at once for older ones, the token is considered stolen, and
 * the session ends. Only a refresh spends the successor, not a call with its access token:
 * otherwise a second process of the client, slightly late, would end the session for both.
 */
import { OAuthError } from "@oauth-broker/oauth-core";
import { namedScopes } from "@oauth-broker/oauth-core/protocol";
import type { IssuedToken } from "./issued-token.ts";
import { type IssuedTokens, issuePair, type Issuing, openAnswer, sealAnswer, toIssuedTokens } from "./token-pair.ts";
import { prefixScopes, scopesOfVendor, withoutIgnored } from "../link-policy/scope.ts";
import type { UserSessions } from "./user-sessions.ts";
import {
  MAX_ACCESS_TOKENS,
  readSession,
  REFRESH_REPLAY_SECONDS,
  REFRESH_TOKEN_LIFETIME_SECONDS,
  sessionKey,
  type SessionReading,
  type Standing,
  standingOf,
  type StoredSession,
} from "./record.ts";

export interface RefreshRequest {
  readonly clientId: string;
  /** Absent or empty: all that was granted. */
  readonly scope: readonly string[] | undefined;
  /** Those that ask for nothing if the session does not have them. Default none. */
  readonly ignorable?: readonly string[];
}

export interface RefreshDeps extends SessionReading, Issuing {
  /** Ends the session. */
  end(session: StoredSession): Promise<void>;
  /** The user's index of sessions. */
  readonly index: Pick<UserSessions, "listedUntil" | "extend">;
}

/**
 * In each round another caller has changed the record; a session is not refreshed this often within
 * one call.
 */
const TRIES = 5;

/**
 * @param presented the parsed `token`
 * @throws OAuthError invalid_grant, invalid_scope, temporarily_unavailable
 */
export async function refreshSession(
  token: string,
  presented: IssuedToken,
  request: RefreshRequest,
  deps: RefreshDeps,
): Promise<IssuedTokens> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const session = await readSession(presented.sessionId, deps);
    if (session === undefined || !session.isLive) throw invalidRefreshToken("the session has ended or expired");
    //= bar#AS-14
    if (session.clientId !== request.clientId) throw invalidRefreshToken("the refresh token is another client's");
    const standing = standingOf(presented, session);
    if (standing === "unknown") throw invalidRefreshToken("the session does not know the refresh token");
    if (isReuse(standing, session, deps.now())) {
      //= rfc9700#4.14.2
      await deps.end(session);
      throw invalidRefreshToken("the refresh token was spent before: the session has ended");
    }
    const listedUntil = await deps.index.listedUntil(session.user, session.id);
    if (listedUntil === undefined) throw unlistedSession();
    const scope = requestedScope(request, session);
    if (standing === "previous" && session.previous !== undefined) {
      return toIssuedTokens(openAnswer(session.previous.sealed, token, session.id), deps.now());
    }
    const answer = await rotate(token, { ...session, indexedUntil: listedUntil }, scope, deps);
    if (answer !== undefined) return answer;
  }
  throw new OAuthError("temporarily_unavailable", "The session is being changed", { detail: "it kept changing" });
}

function isReuse(standing: Standing, { previous }: StoredSession, now: number): boolean {
  //= bar#AS-14
  if (standing === "ancestor") return true;
  //= bar#AS-14
  return standing === "previous" && previous !== undefined && now > previous.until;
}

/** @throws OAuthError invalid_scope for more than was granted; nothing has been spent then */
function requestedScope({ scope = [], ignorable = [] }: RefreshRequest, session: StoredSession): readonly string[] {
  // The client of a session from before `VENDORS` may name scopes as they were then.
  const named = scope.map((token) =>
    session.scope.includes(token) ? token : (prefixScopes([token], session.unprefixedOf)[0] ?? token),
  );
  const asked = withoutIgnored(named, ignorable, session.scope);
  if (asked.length === 0) return session.scope;
  //= rfc6749#6
  const more = asked.filter((token) => !session.scope.includes(token));
  //= bar#AS-14
  if (more.length > 0) throw new OAuthError("invalid_scope", `The user did not grant ${namedScopes(more)}`);
  return asked;
}

/** @returns undefined when the record has changed since it was read: nothing was written */
async function rotate(
  spent: string,
  session: StoredSession,
  scope: readonly string[],
  deps: RefreshDeps,
): Promise<IssuedTokens | undefined> {
  const { records, now } = deps;
  const generation = session.generation + 1;
  const { endsAt, unprefixedOf } = session;
  const expiresAt = Math.min(now() + REFRESH_TOKEN_LIFETIME_SECONDS, endsAt);
  const indexedUntil =
    session.indexedUntil < expiresAt ? await deps.index.extend(session.user, session.id) : session.indexedUntil;
  if (indexedUntil === undefined) throw unlistedSession();
  const { answer, access, refreshHash } = await issuePair({ sessionId: session.id, generation, scope, endsAt }, deps);
  const isWhole = scope === session.scope;
  const live = session.access.filter((one) => one.expiresAt > now());
  const { outcome } = await records.advance(
    sessionKey(session.id),
    { stage: "live", expect: { refreshHash: session.refreshHash } },
    {
      stage: "live",
      set: {
        access: [isWhole ? access : { ...access, scope: scopesOfVendor(scope, unprefixedOf) }, ...live].slice(
          0,
          MAX_ACCESS_TOKENS,
        ),
        refreshHash,
        generation,
        indexedUntil,
        previous: {
          hash: session.refreshHash,
          sealed: sealAnswer(answer, spent, session.id),
          until: now() + REFRESH_REPLAY_SECONDS,
        },
      },
      expiresAt,
    },
  );
  return outcome === "moved" ? toIssuedTokens(answer, now()) : undefined;
}

/**
 * An ended session is taken off the index of its user, so that its row alone, put back by a writer
 * of the table, is worth no more than the access tokens that were valid when it was copied.
 */
//= bar#TS-19
function unlistedSession(): OAuthError {
  return invalidRefreshToken("the index of the user's sessions does not list the session");
}

/** One sentence for all causes: the caller learns nothing about which. */
function invalidRefreshToken(detail: string): OAuthError {
  return new OAuthError("invalid_grant", "The refresh token is not valid", { detail });
}
