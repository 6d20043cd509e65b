/**
 * A user's tokens, fresh: one refresh per record at a time, over all processes, and no answer of a vendor lost that can be
 * kept. Vendors that rotate end the whole grant when a refresh token is used twice.
 *
 * 1. Read. Fresh tokens go out as they are; near their end one caller refreshes ahead, all others go on.
 * 2. One refresh of a record in this process, one lease on it across processes. Who does not get it waits for the version
 *    to move.
 * 3. Make sure that the answer can be sealed; then ask the vendor, once under this lease.
 * 4. Seal the answer and commit it while version, status and lease are as they were.
 * 5. A commit whose answer was lost is repeated, and recognised.
 * 6. A commit the store does not take goes on behind, and into the journal.
 * 7. Fenced out: the own result is dropped, the row's counts.
 *
 * due.ts decides 1, lease.ts 2, vendor-call.ts 3 and a vendor that refuses, commit.ts 4, 5 and 7,
 * orphans.ts and journal.ts 6. Nothing the vendor answered is returned before it is stored.
 */
import { type Clock, OAuthError } from "@oauth-broker/oauth-core";
import { createJournal, type JournalEvent } from "./journal.ts";
import { afterFailure, askVendor, endGrant } from "./vendor-call.ts";
import { busy, createClockWatch, isHeld, takeLease } from "./lease.ts";
import { commitAnswer, type CommitDeps } from "./commit.ts";
import {
  type Discard,
  type Outcome,
  reauthorizationRequired,
  type Refresh,
  type RefreshCall,
  type RefreshEvent,
  standing,
} from "./context.ts";
import { isAlive, refreshDue } from "./due.ts";
import { createGate, type Gate } from "./gate.ts";
import { createFlights, type Flights } from "./flights.ts";
import { createOrphans, settleDeadAttempt } from "./orphans.ts";
import { shareReads } from "./reads.ts";
import { refreshTimes, type RefreshTimes, systemTimer, type Timer, withJitter } from "./times.ts";
import type { CurrentRecord, TokenRecords } from "../tokens/token-records.ts";
import type { StoredTokens, TokenKey } from "../tokens/tokens.ts";

/** How a store refreshes, for as long as it lives. */
export interface RefreshLeasesOptions {
  /** Where answers go that the store does not take. Absent: they live as long as this process. */
  readonly journalFolder?: string | undefined;
  readonly times?: Partial<RefreshTimes>;
  /** Refreshes at one vendor at once in this process; default 50. */
  readonly concurrency?: number;
}

const CONCURRENCY = 50;

export interface RefreshLeasesDeps {
  readonly records: TokenRecords;
  readonly now: Clock;
  /** Told what is worth counting. Never holds a token or a user. */
  readonly onEvent?: (event: RefreshEvent | JournalEvent) => void;
  readonly timer?: Timer;
}

/** What one call of `withRefreshLease` brings. */
export interface RefreshOptions {
  /** Told of tokens that came too late: the grant was revoked here while the vendor was asked. Best effort. */
  readonly discard?: Discard;
  /** The vendor refused the access token of this version, whatever its `expiresAt` says. */
  readonly refused?: number;
}

export interface RefreshLeases {
  /**
   * @returns tokens to use now; undefined where the user has none, or they were revoked
   * @throws OAuthError invalid_grant, reason `reauthorization_required`, when only the user can mend it;
   *   temporarily_unavailable, or what `refresh` threw, when the old access token has no life left either
   */
  withRefreshLease(key: TokenKey, refresh: Refresh, options?: RefreshOptions): Promise<StoredTokens | undefined>;
  /** To be called at start: commits what an earlier process left in the journal. A store that is down does not hold it up. */
  replayJournal(): Promise<void>;
  /** Waits for calls and commits under way, then stops trying. @returns how many are left */
  drain(limitMs: number): Promise<number>;
}

interface Deps extends CommitDeps {
  readonly clockWatch: (current: CurrentRecord) => void;
  readonly sharedRead: TokenRecords["read"];
  readonly gate: Gate;
}

/** One for a process and a table. @throws RangeError for times that do not fit each other */
export function createRefreshLeases(options: RefreshLeasesOptions, given: RefreshLeasesDeps): RefreshLeases {
  const { records, now, timer = systemTimer, onEvent = () => undefined } = given;
  const times = refreshTimes(options.times);
  const { journalFolder } = options;
  const journal = journalFolder === undefined ? undefined : createJournal({ folder: journalFolder, onEvent });
  const shared = { records, now, timer, times, onEvent, journal };
  const orphans = createOrphans(shared);
  const clockWatch = createClockWatch({ now, times, onEvent });
  const sharedRead = shareReads(records.read, ({ user, vendor, issuer }) => JSON.stringify([user, vendor, issuer]));
  const gate = createGate(options.concurrency ?? CONCURRENCY, { timer });
  const deps: Deps = { ...shared, orphans, clockWatch, sharedRead, gate };
  const flights = createFlights<StoredTokens | undefined>({ now, times });

  let calls = 0;

  return {
    withRefreshLease: async (key, refresh, { discard, refused } = {}) => {
      calls += 1;
      try {
        return await freshTokens({ key, refresh, discard, refused }, flights, deps);
      } finally {
        calls -= 1;
      }
    },
    replayJournal: () => orphans.replay(),
    drain: async (limitMs) => {
      const until = timer.elapsedMs() + limitMs;
      const left = (): number => calls + orphans.count();
      //= bar#8.2-6
      while (left() > 0 && timer.elapsedMs() < until) await timer.sleep(Math.min(50, limitMs));
      orphans.stop();
      return left();
    },
  };
}

/** Step 1. */
async function freshTokens(
  call: RefreshCall,
  flights: Flights<StoredTokens | undefined>,
  deps: Deps,
): Promise<StoredTokens | undefined> {
  const { now, times, clockWatch, sharedRead, gate } = deps;
  const current = standing(await sharedRead(call.key));
  if (current === undefined) return undefined;
  clockWatch(current);
  requireGrant(current);
  const { stored, row, lease } = current;
  const due = refreshDue(stored, row.key, now(), { times, refused: call.refused });
  if (due === "fresh") return stored;
  const refresh = async (patienceMs: number): Promise<StoredTokens | undefined> =>
    gate.run(call.key.vendor, patienceMs, () => refreshOnce(current, call, patienceMs, deps));
  try {
    if (due === "due") return await flights.join(row.key, () => refresh(times.waitMs));
    if (isHeld(lease, now())) return stored;
    return await flights.ahead(row.key, () => refresh(0), stored);
  } catch (error) {
    // An outage is no reason to keep back a token that works.
    //= bar#RF-9
    const isUsable = isAlive(stored, now()) && stored.version !== call.refused;
    if (isUsable && error instanceof OAuthError && error.code !== "invalid_grant") return stored;
    throw error;
  }
}

/** Steps 2 to 7, as often as somebody else gets in between and time permits. */
async function refreshOnce(
  first: CurrentRecord,
  call: RefreshCall,
  patienceMs: number,
  deps: Deps,
): Promise<StoredTokens | undefined> {
  const { records, now, timer, times, clockWatch } = deps;
  const until = timer.elapsedMs() + patienceMs;
  let current: CurrentRecord = first;
  let isLastLook = false;
  for (;;) {
    clockWatch(current);
    requireGrant(current);
    if (current.stored.version > first.stored.version && isAlive(current.stored, now())) return current.stored;
    if (isLastLook) throw busy(current, { now });
    const outcome = await attemptRefresh(current, call, deps);
    if (outcome.kind === "stored") return outcome.stored;
    if (outcome.kind === "gone") return undefined;
    isLastLook = timer.elapsedMs() >= until;
    if (!isLastLook) await timer.sleep(withJitter(times.pollMs));
    const next = standing(await records.read(call.key));
    if (next === undefined) return undefined;
    current = next;
  }
}

/** Steps 2 to 7, once. `fenced` also where somebody else is at work. */
async function attemptRefresh(current: CurrentRecord, call: RefreshCall, deps: Deps): Promise<Outcome> {
  const { records, now, orphans } = deps;
  const { tokens } = current.stored;
  const { refreshToken: sent } = tokens;
  if (sent === undefined) return endGrant(current, "no_refresh_token", call, deps);
  if (isHeld(current.lease, now())) return { kind: "fenced" };
  await settleDeadAttempt(current, deps);
  // An answer is still to be written, so this refresh token is used up.
  if (orphans.has(current.row.key)) return { kind: "fenced" };
  // Now, and not when the vendor has rotated: keys that are away must not cost a grant.
  await records.seal(current, tokens);
  const attempt = await takeLease(current, deps);
  if (typeof attempt === "string") return { kind: "fenced" };
  const asked = await askVendor({ ...tokens, refreshToken: sent }, attempt, call, deps).then(
    (answer) => ({ answer }),
    (error: unknown) => ({ error }),
  );
  if ("error" in asked) return afterFailure(asked.error, attempt, call, deps);
  return commitAnswer(attempt, { sent, answer: asked.answer }, call, deps);
}

function requireGrant({ stored }: CurrentRecord): void {
  if (stored.status === "reauthorize") throw reauthorizationRequired();
}
