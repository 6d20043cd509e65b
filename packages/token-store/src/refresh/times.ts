/**
 * How long each part of a refresh may take, and whether the numbers are consistent. refresh.ts uses
 * them.
 */
import type { EpochSeconds, Timer } from "@oauth-broker/oauth-core";

/**
 * Seconds are compared with the clock and with rows; milliseconds are measured by this process
 * alone.
 */
export const DEFAULT_REFRESH_TIMES = {
  /** How far apart the clocks of two processes may be. */
  skewSeconds: 5,
  /** A token with more remaining lifetime than this and the skew is returned as it is. */
  freshSeconds: 60,
  leaseSeconds: 30,
  /** Then the vendor call is aborted. */
  vendorTimeoutMs: 10_000,
  /** What sealing and committing may take without endangering the lease. */
  storeBudgetMs: 5_000,
  /** How long a caller waits for another attempt's refresh. */
  waitMs: 15_000,
  /** With jitter. Between two reads of a row that another attempt refreshes. */
  pollMs: 100,
  /** How long a caller waits for its own commit while the store is down. */
  commitMs: 20_000,
  /** Between two attempts of a commit while the store is down. */
  retryMs: 500,
  /** How long the refresh token before the current one is kept. */
  previousSeconds: 300,
  /**
   * After a refresh ahead of time failed, how long this process does not refresh that record ahead
   * of time.
   */
  aheadPauseSeconds: 30,
};

/** How long each part of a refresh may take. */
export type RefreshTimes = Readonly<typeof DEFAULT_REFRESH_TIMES>;

/**
 * The part of a lease left for taking it, after the shares of vendor, store and twice the skew. The
 * clock has whole seconds, so a lease may be up to a second shorter than it says.
 */
function slackMs({ leaseSeconds, skewSeconds, vendorTimeoutMs, storeBudgetMs }: RefreshTimes): number {
  return (leaseSeconds - 1 - 2 * skewSeconds) * 1000 - vendorTimeoutMs - storeBudgetMs;
}

/**
 * Checked between lease and request.
 *
 * @param startedMs on the timer, before the lease was requested
 */
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

/** @returns at least 1, for `Retry-After` */
export function secondsUntil(moment: EpochSeconds, now: EpochSeconds): number {
  return Math.max(1, moment - now);
}
