/**
 * A session as stored: one record, kind `session`, stages `live` and `ended`, changed by one
 * conditional write at a time. Its id is in the tokens and proves nothing; of the tokens only
 * hashes are stored.
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
import type { RecordedScope, SessionPolicy } from "../../settings.ts";
import { type IdentitySource, isSameSource } from "../records/identity-source.ts";
import type { IssuedToken } from "./issued-token.ts";
import { prefixScopes } from "../link-policy/scope.ts";
import { isOfPresentSignIn, type OfSignIn, type SignInGeneration } from "./sign-in-generation.ts";

export const ACCESS_TOKEN_LIFETIME_SECONDS = 3600;
/** Lifetime of an unused refresh token; each use restarts it. */
export const REFRESH_TOKEN_LIFETIME_SECONDS = 30 * 24 * 3600;
/** How long the previous refresh token still gets the response of its first use. */
export const REFRESH_REPLAY_SECONDS = 30;
/**
 * Access tokens live at a time; a client that refreshes more often than this within an hour loses
 * the oldest.
 */
export const MAX_ACCESS_TOKENS = 8;
/**
 * How long an ended session is kept apart from one that never existed, so that a revocation whose
 * response was lost succeeds again.
 */
export const ENDED_SESSION_SECONDS = 600;

export const SESSION_FORMAT = 2;

/**
 * The fields of the record. Type aliases and not interfaces: only those are assignable to JSON
 * objects.
 */
export type SessionData = OfSignIn &
  RecordedScope & {
    readonly v: 2;
    /** With `issuer`, the source of the identity. */
    readonly vendor: string;
    readonly issuer: string;
    readonly user: string;
    readonly clientId: string;
    /** As granted. Never widened. */
    readonly scope: readonly string[];
    /** Newest first. */
    readonly access: readonly StoredAccessToken[];
    readonly refreshHash: string;
    /** How often it was refreshed. */
    readonly generation: number;
    readonly previous?: PreviousRefreshToken;
    readonly startedAt: EpochSeconds;
    /** Until when the user's index of sessions lists it; user-sessions.ts. */
    readonly indexedUntil: EpochSeconds;
  };

export type StoredAccessToken = {
  readonly hash: string;
  readonly expiresAt: EpochSeconds;
  /** Only when the refresh requested less than the session has. */
  readonly scope?: readonly string[];
};

/** The previous refresh token. */
export type PreviousRefreshToken = {
  readonly hash: string;
  /** Its response, under a key derived from it: token-pair.ts. */
  readonly sealed: string;
  /** The last second in which it gets that response again. */
  readonly until: EpochSeconds;
};

export interface StoredSession extends SessionData {
  readonly id: string;
  readonly isLive: boolean;
  /** With `VENDORS` each token names its vendor, also in a session from before. */
  readonly scope: readonly string[];
  /**
   * With `VENDORS`, of a session from before: the id of the vendor whose scopes its stored ones
   * are.
   */
  readonly unprefixedOf?: string;
  /** When it ends, no matter how often it is refreshed; Infinity with `VENDOR`. */
  readonly endsAt: EpochSeconds;
}

export function sessionKey(id: string): RecordKey {
  return { kind: "session", id };
}

export interface SessionReading {
  readonly records: RecordStore;
  /** The identity source in the server's present settings. */
  readonly source: IdentitySource;
  readonly signInGeneration: SignInGeneration;
  readonly now: Clock;
  readonly links: SessionPolicy;
}

/**
 * @returns undefined when it does not exist, has been deleted, or was opened at another vendor or
 *   issuer, or before the operator adopted a sign-in vendor
 */
export async function readSession(id: string, reading: SessionReading): Promise<StoredSession | undefined> {
  const { records, source, links, now } = reading;
  const record = await records.get(sessionKey(id));
  const session = record === undefined ? undefined : toSession(record);
  //= bar#RS-2
  if (session === undefined || !isSameSource(session, source)) return undefined;
  //= bar#RS-2
  if (!(await isOfPresentSignIn(session, reading))) return undefined;
  const scopes = links.readScope(session);
  if (scopes === undefined) return undefined;
  const endsAt = session.startedAt + links.sessionMaxSeconds;
  return { ...session, ...scopes, endsAt, isLive: session.isLive && now() < endsAt };
}

/**
 * Ends a live session. Its record is kept for ENDED_SESSION_SECONDS, then deleted.
 *
 * @returns whether this call ended it; `absent` when it does not exist
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
 * The position of a refresh token in its session.
 *
 * - `current`: may be spent.
 * - `previous`: spent by the last refresh.
 * - `ancestor`: spent by an earlier one.
 * - `unknown`: never issued by a session with this history, for example after the store was
 *   restored from a backup.
 */
export type Standing = "current" | "previous" | "ancestor" | "unknown";

/** @param presented a token whose tag was verified */
export function standingOf(presented: IssuedToken, session: StoredSession): Standing {
  if (isSameText(presented.hash, session.refreshHash)) return "current";
  if (isSameText(presented.hash, session.previous?.hash)) return "previous";
  return presented.generation < session.generation ? "ancestor" : "unknown";
}

/** @returns scope and expiry of an access token that is valid now */
export function liveAccessToken(
  presented: IssuedToken,
  session: StoredSession,
  now: EpochSeconds,
): { readonly scope: readonly string[]; readonly expiresAt: EpochSeconds } | undefined {
  const found = session.access.find(({ hash, expiresAt }) => isSameText(hash, presented.hash) && expiresAt > now);
  if (found === undefined) return undefined;
  const scope = found.scope === undefined ? session.scope : prefixScopes(found.scope, session.unprefixedOf);
  return { scope, expiresAt: Math.min(found.expiresAt, session.endsAt) };
}

function toSession({ key, stage, data }: StoredRecord): Omit<StoredSession, "endsAt"> | undefined {
  if (data["v"] !== SESSION_FORMAT) {
    throw new OAuthError("temporarily_unavailable", "The session cannot be read", {
      detail: "the record of the session is not of a format this release knows",
    });
  }
  // The entry endAll leaves when a session was about to be created.
  if (data["user"] === undefined) return undefined;
  return { ...(data as SessionData), id: key.id, isLive: stage === "live" };
}
