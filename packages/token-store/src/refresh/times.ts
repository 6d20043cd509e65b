/** How long everything about a refresh may take, and whether the numbers fit each other. refresh.ts uses them. */
import { randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { EpochSeconds } from "@oauth-broker/oauth-core";

/** Seconds are compared with the clock and with rows; milliseconds are measured by this process alone. */
export interface RefreshTimes {
  /** Default 5. How far the clocks of two processes may be apart. */
  readonly skewSeconds: number;
  /** Default 60. A token with more life than this and the skew is handed out as it is. */
  readonly freshSeconds: number;
  /** Default 30. */
  readonly leaseSeconds: number;
  /** Default 10,000. The vendor call is given up then. */
  readonly vendorTimeoutMs: number;
  /** Default 5,000. What sealing and committing may take without endangering the lease. */
  readonly storeBudgetMs: number;
  /** Default 15,000. How long a caller waits for somebody else's refresh. */
  readonly waitMs: number;
  /** Default 100, with jitter. Between two looks at a row that somebody else refreshes. */
  readonly pollMs: number;
  /** Default 20,000. How long a caller waits for its own commit while the store is down. */
  readonly commitMs: number;
  /** Default 500. Between two tries of a commit while the store is down. */
  readonly retryMs: number;
  /** Default 300. How long the refresh token before the current one is kept. */
  readonly previousSeconds: number;
  /** Default 30. After a refresh ahead of time failed, this process does not try that record ahead of time again. */
  readonly aheadPauseSeconds: number;
}

export const DEFAULT_REFRESH_TIMES: RefreshTimes = {
  skewSeconds: 5,
  freshSeconds: 60,
  leaseSeconds: 30,
  vendorTimeoutMs: 10_000,
  storeBudgetMs: 5_000,
  waitMs: 15_000,
  pollMs: 100,
  commitMs: 20_000,
  retryMs: 500,
  previousSeconds: 300,
  aheadPauseSeconds: 30,
};

/**
 * What is left of a lease for taking it, once vendor, store and twice the skew have their share. The clock counts whole
 * seconds, so that a lease may be a second shorter than it says.
 */
export function slackMs({ leaseSeconds, skewSeconds, vendorTimeoutMs, storeBudgetMs }: RefreshTimes): number {
  return (leaseSeconds - 1 - 2 * skewSeconds) * 1000 - vendorTimeoutMs - storeBudgetMs;
}

/** Asked between lease and request. @param startedMs on the timer, before the lease was asked for */
export function isInTime(
  startedMs: number,
  { timer, times }: { readonly timer: Timer; readonly times: RefreshTimes },
): boolean {
  return timer.elapsedMs() - startedMs <= slackMs(times);
}

/** @throws RangeError when a lease could end before the refresh it protects */
export function refreshTimes(times: Partial<RefreshTimes> = {}): RefreshTimes {
  const all = { ...DEFAULT_REFRESH_TIMES, ...times };
  //= bar#8.2-3
  if (slackMs(all) <= 0) {
    throw new RangeError("leaseSeconds must exceed vendorTimeoutMs, storeBudgetMs, twice skewSeconds and one second");
  }
  return all;
}

/** Waiting and measuring, apart from the clock: it neither jumps nor goes back. */
export interface Timer {
  /** @param options.background does not keep the process alive */
  sleep(ms: number, options?: { readonly background?: boolean }): Promise<void>;
  /** Milliseconds since some fixed moment. */
  elapsedMs(): number;
}

export const systemTimer: Timer = {
  sleep: async (ms, { background = false } = {}) => sleep(ms, undefined, { ref: !background }),
  elapsedMs: () => performance.now(),
};

/** Between half of it and one and a half: callers that came at the same moment do not come back at the same moment. */
export function withJitter(ms: number): number {
  return ms / 2 + randomInt(0, Math.max(1, Math.ceil(ms)));
}

/** @returns at least 1, for `Retry-After` */
export function secondsUntil(moment: EpochSeconds, now: EpochSeconds): number {
  return Math.max(1, moment - now);
}
