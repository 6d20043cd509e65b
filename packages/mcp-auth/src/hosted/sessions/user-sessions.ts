/**
 * The sessions of a user: one record per user, kind `user-sessions`, changed by compare-and-set. A
 * session is listed here before it is created, so that ending all of a user's sessions misses none,
 * even after a crash; an entry without a session is harmless, and expires.
 */
import {
  type EpochSeconds,
  type JsonObject,
  type JsonValue,
  OAuthError,
  type RecordKey,
} from "@oauth-broker/oauth-core";
import { changeRecord } from "@oauth-broker/service";
import { derivedName, type ServerKey } from "../records/server-key.ts";
import {
  ENDED_SESSION_SECONDS,
  endStored,
  readSession,
  REFRESH_TOKEN_LIFETIME_SECONDS,
  SESSION_FORMAT,
  sessionKey,
  type SessionReading,
} from "./record.ts";

/** Sessions of one user at a time; one more ends the oldest. */
export const MAX_SESSIONS_OF_USER = 64;
/**
 * Twice the lifetime of an unused session, so that its entry is written again once a month and not
 * at every refresh.
 */
const ENTRY_SECONDS = 2 * REFRESH_TOKEN_LIFETIME_SECONDS;
/** A listed session that does not exist may be about to be created. */
const BEGINNING_SECONDS = 60;
/** An index without entries. */
const EMPTY_SECONDS = 60;
const ROUNDS = 200;

interface Entry extends JsonObject {
  readonly id: string;
  readonly startedAt: EpochSeconds;
  readonly until: EpochSeconds;
}

export interface UserSessions {
  /** @returns until when it is in the index */
  add(user: string, id: string): Promise<EpochSeconds>;
  /** @returns until when it is in the index; undefined: it is not, and is not refreshed any more */
  listedUntil(user: string, id: string): Promise<EpochSeconds | undefined>;
  /** The same, for as long as a session that is refreshed now may live. */
  extend(user: string, id: string): Promise<EpochSeconds | undefined>;
  /** @returns whether the user now has no session left */
  remove(user: string, id: string): Promise<boolean>;
  /** Ends all sessions of the user that the index lists, including those about to be created. */
  endAll(user: string): Promise<EndedSessions>;
}

export interface EndedSessions {
  /** How many were live. */
  readonly ended: number;
  /** Whether the user has an index, which a writer of the table can remove. */
  readonly hasIndex: boolean;
}

export interface UserSessionsDeps extends SessionReading {
  /** The audience of the sessions' tokens: another server on the same table has its own indexes. */
  readonly audience: string;
  readonly serverKey: ServerKey;
}

/** Derived from the server key: with another, which makes an index unreadable, its place is free. */
export async function indexKey(
  user: string,
  { audience, source, serverKey }: Pick<UserSessionsDeps, "audience" | "source" | "serverKey">,
): Promise<RecordKey> {
  const of = [audience, source.vendor, source.issuer, user];
  return { kind: "user-sessions", id: await derivedName("user-sessions", of, { serverKey }) };
}

/** All methods throw OAuthError temporarily_unavailable. */
export function createUserSessions(deps: UserSessionsDeps): UserSessions {
  const { records, now } = deps;
  const listedIn = (index: JsonObject | undefined): readonly Entry[] =>
    (entriesIn(index, "sessions") as readonly Entry[]).filter(({ until }) => until > now());

  const change = async <T>(
    user: string,
    decide: (
      present: readonly Entry[],
      hasIndex: boolean,
    ) => Promise<{ readonly entries?: readonly Entry[]; readonly result: T }>,
  ): Promise<T> =>
    changeRecord(await indexKey(user, deps), {
      records,
      rounds: ROUNDS,
      busy: "The user's sessions are being changed",
      decide: async (data) => {
        const { entries, result } = await decide(listedIn(data), data !== undefined);
        if (entries === undefined || (data === undefined && entries.length === 0)) return { result };
        const expiresAt = Math.max(now() + EMPTY_SECONDS, ...entries.map(({ until }) => until));
        return { next: { data: { v: 1, sessions: entries }, expiresAt }, result };
      },
    });

  return {
    add: (user, id) =>
      change(user, async (entries) => {
        const until = now() + ENTRY_SECONDS;
        const kept = entries.slice(-(MAX_SESSIONS_OF_USER - 1));
        const tooMany = entries.slice(0, entries.length - kept.length);
        await Promise.all(tooMany.map((entry) => endOrPreempt(entry.id, deps)));
        return { entries: [...kept, { id, startedAt: now(), until }], result: until };
      }),
    listedUntil: async (user, id) => {
      const index = await records.get(await indexKey(user, deps));
      return listedIn(index?.data).find((entry) => entry.id === id)?.until;
    },
    extend: (user, id) =>
      change(user, async (entries) => {
        const listed = entries.find((entry) => entry.id === id);
        if (listed === undefined) return { result: undefined };
        const until = now() + ENTRY_SECONDS;
        // Last, if the newest are: one session too many ends the one that was not used.
        return { entries: [...entries.filter((entry) => entry !== listed), { ...listed, until }], result: until };
      }),
    remove: async (user, id) => {
      const others = await change(user, async (entries) => {
        const kept = entries.filter((entry) => entry.id !== id);
        return { entries: kept, result: kept };
      });
      return !(await isAnyLive(others, deps));
    },
    endAll: async (user) => {
      let ended = 0;
      const hasIndex = await change(user, async (entries, exists) => {
        const wereLive = await Promise.all(entries.map((entry) => endOrPreempt(entry.id, deps)));
        ended += wereLive.filter(Boolean).length;
        return { entries: [], result: exists };
      });
      return { ended, hasIndex };
    },
  };
}

/**
 * The entries of an index of a user, those that have expired too; none without an index.
 *
 * @throws OAuthError temporarily_unavailable for a format this release does not know
 */
export function entriesIn(index: JsonObject | undefined, of: "sessions" | "tickets"): JsonValue {
  if (index === undefined) return [];
  if (index["v"] === 1 && typeof index["revision"] === "string") return index[of] ?? [];
  throw new OAuthError("temporarily_unavailable", `The user's ${of} cannot be read`, {
    detail: `the index of the user's ${of} is not of a format this release knows`,
  });
}

async function isAnyLive(entries: readonly Entry[], deps: SessionReading): Promise<boolean> {
  for (const { id, startedAt } of entries.toReversed()) {
    const session = await readSession(id, deps);
    const isBeginning = session === undefined && startedAt + BEGINNING_SECONDS > deps.now();
    if (isBeginning || session?.isLive === true) return true;
  }
  return false;
}

/**
 * Without a session yet, an ended one takes its place: the process about to create it finds
 * it ended.
 *
 * @returns whether it was live
 */
async function endOrPreempt(id: string, deps: SessionReading): Promise<boolean> {
  const ended = await endStored(id, deps);
  if (ended !== "absent") return ended === "ended";
  const expiresAt = deps.now() + ENDED_SESSION_SECONDS;
  const taken = await deps.records.create({
    key: sessionKey(id),
    stage: "ended",
    data: { v: SESSION_FORMAT },
    expiresAt,
  });
  return taken === "exists" && (await endStored(id, deps)) === "ended";
}
