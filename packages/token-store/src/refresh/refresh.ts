/**
 * A user's tokens, fresh: one refresh per record at a time, over all processes, and no vendor
 * response is lost that can be kept. Vendors that rotate end the whole grant when a refresh token
 * is used twice.
 *
 * 1. Read. Fresh tokens are returned as they are; near their end one caller refreshes ahead, all
 *    others go on.
 * 2. One refresh of a record in this process, one lease on it across processes. A caller without
 *    the lease waits for the version to change.
 * 3. Make sure that the response can be sealed; then ask the vendor, once under this lease.
 * 4. Seal the response and commit it while version, status and lease are unchanged.
 * 5. A commit whose answer was lost is repeated, and recognised.
 * 6. A commit the store does not take continues in the background, and in the journal.
 * 7. Fenced out: the result is dropped, the row's is used.
 *
 * due.ts decides 1, record-lease.ts 2, vendor-call.ts 3 and a vendor that refuses, commit.ts 4, 5 and 7,
 * orphans.ts and journal.ts 6. No vendor response is returned before it is stored.
 */
import { OAuthError } from "@oauth-broker/oauth-core";
import { createJournal, type JournalEvent } from "./journal.ts";
import { endGrant, refreshUnder } from "./vendor-call.ts";
import { busy, createClockWatch, isHeld, takeLease } from "./record-lease.ts";
import type { CommitDeps } from "./commit.ts";
import {
  type Discard,
  type Outcome,
  reauthorizationRequired,
  type Refresh,
  type RefreshCall,
  type RefreshContext,
  type RefreshEvent,
  activeRecord,
} from "./context.ts";
import { isAlive, refreshDue } from "./due.ts";
import { type Backlog, createBacklog, createVendorLimit, type VendorLimit } from "./vendor-limit.ts";
import { createFlights, type Flights } from "./flights.ts";
import { createOrphans, settleDeadAttempt } from "./orphans.ts";
import { shareReads } from "./reads.ts";
import { refreshTimes, type RefreshTimes } from "./times.ts";
import type { CurrentRecord, TokenRecords } from "../tokens/token-records.ts";
import type { StoredTokens, TokenKey } from "../tokens/tokens.ts";

/** How a store refreshes, for as long as it lives. */
export interface RefreshLeasesOptions {
  /**
   * Where responses are kept that the store does not take. Absent: they are lost with this process.
   */
  readonly journalFolder?: string | undefined;
  readonly times?: Partial<RefreshTimes>;
  /** Refreshes at one vendor at a time in this process; default 50. */
  readonly concurrency?: number;
}

const CONCURRENCY = 50;

/** The arguments of one call of `withRefreshLease`. */
export interface RefreshOptions {
  /**
   * Called with tokens that came too late: the grant was revoked here while the vendor was asked.
   * Best effort.
   */
  readonly discard?: Discard;
  /** The vendor refused the access token of this version, even before its `expiresAt`. */
  readonly refused?: number;
}

export type RefreshLeases = ReturnType<typeof createRefreshLeases>;

interface Deps extends CommitDeps {
  readonly clockWatch: (current: CurrentRecord) => void;
  readonly sharedRead: TokenRecords["read"];
  readonly vendorLimit: VendorLimit;
  readonly backlog: Backlog;
}

/**
 * One per process and table.
 *
 * @throws RangeError for times that contradict each other
 */
export function createRefreshLeases(
  options: RefreshLeasesOptions,
  given: Pick<RefreshContext, "records" | "now" | "timer"> & {
    /** Receives the events worth counting. Never holds a token or a user. */
    readonly onEvent: (event: RefreshEvent | JournalEvent) => void;
  },
) {
  const { records, now, timer, onEvent } = given;
  const times = refreshTimes(options.times);
  const { journalFolder } = options;
  const journal = journalFolder === undefined ? undefined : createJournal(journalFolder, onEvent);
  const shared = { records, now, timer, times, onEvent, journal };
  const orphans = createOrphans(shared);
  const clockWatch = createClockWatch({ now, times, onEvent });
  const sharedRead = shareReads(records.read, ({ user, vendor, issuer, signIn }) =>
    JSON.stringify([user, vendor, issuer, signIn?.vendor, signIn?.issuer]),
  );
  const backlog = createBacklog({ now, onEvent });
  const vendorLimit = createVendorLimit(options.concurrency ?? CONCURRENCY, { timer, backlog });
  const deps: Deps = { ...shared, orphans, clockWatch, sharedRead, vendorLimit, backlog };
  const flights = createFlights<StoredTokens | undefined>({ now, times });

  let calls = 0;

  return {
    /**
     * @returns tokens to use now; undefined when the user has none, or they were revoked
     * @throws OAuthError invalid_grant, reason `reauthorization_required`, when the user must
     *   authorize again; temporarily_unavailable, or what `refresh` threw, when the old access token
     *   has expired too
     */
    withRefreshLease: async (
      key: TokenKey,
      refresh: Refresh,
      options: RefreshOptions = {},
    ): Promise<StoredTokens | undefined> => {
      calls += 1;
      try {
        return await freshTokens({ ...options, key, refresh }, flights, deps);
      } finally {
        calls -= 1;
      }
    },
    /**
     * To be called at start: commits what an earlier process left in the journal. A store that is
     * down does not delay it.
     */
    replayJournal: orphans.replay,
    /**
     * Waits for calls and commits under way, then stops trying.
     *
     * @returns how many are left
     */
    drain: async (limitMs: number): Promise<number> => {
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
  const { now, times, clockWatch, sharedRead, vendorLimit, backlog } = deps;
  const current = activeRecord(await sharedRead(call.key));
  if (current === undefined) return undefined;
  clockWatch(current);
  requireGrant(current);
  const { stored, row, lease } = current;
  const due = refreshDue(stored, row.key, now(), { times, refused: call.refused });
  if (due === "fresh") {
    backlog.remove(call.key.vendor, row.key);
    return stored;
  }
  const refresh = async (waitMs: number): Promise<StoredTokens | undefined> => {
    const fresh = await vendorLimit.run(call.key.vendor, waitMs, () => refreshOnce(current, call, waitMs, deps));
    backlog.remove(call.key.vendor, row.key);
    return fresh;
  };
  try {
    if (due === "due") return await flights.join(row.key, () => refresh(times.waitMs));
    if (isHeld(lease, now())) return stored;
    return await flights.ahead(row.key, () => refresh(0), stored);
  } catch (error) {
    const isOver = !(error instanceof OAuthError) || error.code === "invalid_grant";
    backlog[isOver ? "remove" : "add"](call.key.vendor, row.key);
    // An outage is no reason to withhold a token that works.
    const isUsable = isAlive(stored, now()) && stored.version !== call.refused;
    //= bar#RF-9
    if (isUsable && !isOver) return stored;
    throw error;
  }
}

/** Steps 2 to 7, repeated while other attempts interfere and time permits. */
async function refreshOnce(
  first: CurrentRecord,
  call: RefreshCall,
  waitMs: number,
  deps: Deps,
): Promise<StoredTokens | undefined> {
  const { records, now, timer, times, clockWatch } = deps;
  const until = timer.elapsedMs() + waitMs;
  let current: CurrentRecord = first;
  let isLastLook = false;
  for (;;) {
    clockWatch(current);
    requireGrant(current);
    if (current.stored.version > first.stored.version && isAlive(current.stored, now())) return current.stored;
    if (isLastLook) throw busy(current, { now });
    const outcome = await attemptRefresh(current, call, deps);
    if (outcome === "gone") return undefined;
    if (outcome !== "fenced") return outcome;
    isLastLook = timer.elapsedMs() >= until;
    if (!isLastLook) await timer.sleep(times.pollMs, { jitter: true });
    const next = activeRecord(await records.read(call.key));
    if (next === undefined) return undefined;
    current = next;
  }
}

/** Steps 2 to 7, once. `fenced` also when another attempt holds the lease. */
async function attemptRefresh(current: CurrentRecord, call: RefreshCall, deps: Deps): Promise<Outcome> {
  const { records, now, orphans } = deps;
  const { tokens } = current.stored;
  const { refreshToken: sent } = tokens;
  if (sent === undefined) return endGrant(current, "no_refresh_token", call, deps);
  if (isHeld(current.lease, now())) return "fenced";
  //= bar#8.2-6
  await settleDeadAttempt(current, deps);
  // A response is still to be written, so this refresh token is used up.
  //= bar#8.2-6
  if (orphans.has(current.row.key)) return "fenced";
  // Now, and not after the vendor has rotated: unavailable keys must not cost a grant.
  await records.seal(current, tokens);
  const attempt = await takeLease(current, deps);
  return attempt === undefined ? "fenced" : refreshUnder(attempt, sent, call, deps);
}

function requireGrant({ stored }: CurrentRecord): void {
  if (stored.status === "reauthorize") throw reauthorizationRequired();
}
