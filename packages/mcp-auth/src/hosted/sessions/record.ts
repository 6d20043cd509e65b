/**
 * A session as it lies in the store: one record, kind `session`, stages `live` and `ended`, changed
 * by one conditional write at a time. Its id is in the tokens and proves nothing; of the tokens
 * themselves only hashes are here.
 */
import {
  type Clock,
  type EpochSeconds,
  OAuthError,
  type RecordKey,
  type RecordStore,
  type StoredRecord,
} from "@oauth-broker/oauth-core";
import { isSameText } from "@oauth-broker/oauth-core/protocol";
import { type IdentitySource, isSameSource } from "../vendor-links/identity-source.ts";
import type { IssuedToken } from "./issued-token.ts";

export const ACCESS_TOKEN_LIFETIME_SECONDS = 3600;
/** Of a refresh token that is not used; each use begins it anew. */
export const REFRESH_TOKEN_LIFETIME_SECONDS = 30 * 24 * 3600;
/** How long the refresh token before the present one still gets the answer its first use got. */
export const REFRESH_REPLAY_SECONDS = 30;
/** Live at a time; a client that refreshes more often than this within an hour loses the oldest. */
export const MAX_ACCESS_TOKENS = 8;
/**
 * How long an ended session can still be told from one that never was, so that a revocation whose
 * answer was lost works again.
 */
export const ENDED_SESSION_SECONDS = 600;

export const SESSION_FORMAT = 2;

/** The fields of the record. Types and not interfaces: only those count as JSON objects. */
export type SessionData = {
  readonly v: 2;
  /** Who says that this is the user, with `issuer`. */
  readonly vendor: string;
  readonly issuer: string;
  readonly user: string;
  readonly clientId: string;
  /** As granted. Never grows. */
  readonly scope: readonly string[];
  /** Newest first. */
  readonly access: readonly StoredAccessToken[];
  readonly refreshHash: string;
  /** How often it was refreshed. */
  readonly generation: number;
  readonly previous?: PreviousRefreshToken;
  readonly startedAt: EpochSeconds;
  /** Until when the index of the user's sessions names it; user-sessions.ts. */
  readonly indexedUntil: EpochSeconds;
};

export type StoredAccessToken = {
  readonly hash: string;
  readonly expiresAt: EpochSeconds;
  /** Only where the refresh asked for less than the session has. */
  readonly scope?: readonly string[];
};

/** The refresh token before the present one. */
export type PreviousRefreshToken = {
  readonly hash: string;
  /** The answer it got, under a key derived from it: token-pair.ts. */
  readonly sealed: string;
  /** The last second in which it gets that answer again. */
  readonly until: EpochSeconds;
};

export interface StoredSession extends SessionData {
  readonly id: string;
  readonly isLive: boolean;
}

export function sessionKey(id: string): RecordKey {
  return { kind: "session", id };
}

export interface SessionReading {
  readonly records: RecordStore;
  /** Of this server as it is set up now. */
  readonly source: IdentitySource;
}

/**
 * @returns undefined where there is none, or none any more, or it was opened at another vendor or
 *   issuer
 */
export async function readSession(id: string, { records, source }: SessionReading): Promise<StoredSession | undefined> {
  const record = await records.get(sessionKey(id));
  const session = record === undefined ? undefined : toSession(record);
  //= bar#RS-2
  return session !== undefined && isSameSource(session, source) ? session : undefined;
}

/**
 * Ends a session that is live. It stays told apart for ENDED_SESSION_SECONDS, then it is gone.
 *
 * @returns whether it was this call that ended it; `absent` where there is none
 */
export async function endStored(
  id: string,
  { records, now }: { readonly records: RecordStore; readonly now: Clock },
): Promise<"ended" | "was_ended" | "absent"> {
  const { outcome } = await records.advance(
    sessionKey(id),
    { stage: "live", expect: {} },
    { stage: "ended", set: {}, remove: ["previous"], expiresAt: now() + ENDED_SESSION_SECONDS },
  );
  if (outcome === "absent") return "absent";
  return outcome === "moved" ? "ended" : "was_ended";
}

/**
 * What a refresh token is to its session.
 *
 * - `current`: to be spent.
 * - `previous`: spent by the last refresh.
 * - `ancestor`: spent by an earlier one.
 * - `unknown`: never handed out by a session with this history, such as after the store was put
 *   back to an older copy.
 */
export type Standing = "current" | "previous" | "ancestor" | "unknown";

/** @param presented a token whose tag has proven that it is ours */
export function standingOf(presented: IssuedToken, session: StoredSession): Standing {
  if (isSameText(presented.hash, session.refreshHash)) return "current";
  if (isSameText(presented.hash, session.previous?.hash)) return "previous";
  return presented.generation < session.generation ? "ancestor" : "unknown";
}

/** @returns what an access token that is good now permits, and until when */
export function liveAccessToken(
  presented: IssuedToken,
  session: StoredSession,
  now: EpochSeconds,
): { readonly scope: readonly string[]; readonly expiresAt: EpochSeconds } | undefined {
  const found = session.access.find(({ hash, expiresAt }) => isSameText(hash, presented.hash) && expiresAt > now);
  return found === undefined ? undefined : { scope: found.scope ?? session.scope, expiresAt: found.expiresAt };
}

function toSession({ key, stage, data }: StoredRecord): StoredSession | undefined {
  if (data["v"] !== SESSION_FORMAT) {
    throw new OAuthError("temporarily_unavailable", "The session cannot be read", {
      detail: "the record of the session is not of a format this release knows",
    });
  }
  // What endAll leaves where a session was about to be made.
  if (data["user"] === undefined) return undefined;
  return { ...(data as SessionData), id: key.id, isLive: stage === "live" };
}
