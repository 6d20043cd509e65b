/**
 * The lease on a record: one attempt to refresh it, across processes. Taken by a conditional
 * write, never renewed, given back when nothing came of it. An expired one says that an attempt
 * died, which vendor-call.ts needs to know. The lease rests on clocks that agree, so those are
 * watched here too.
 */
import { randomBytes } from "node:crypto";
import { type Clock, type EpochSeconds, OAuthError } from "@oauth-broker/oauth-core";
import type { CurrentRecord, Lease } from "../tokens/token-records.ts";
import type { Attempt, RefreshContext, RefreshEvent } from "./context.ts";
import { isInTime, type RefreshTimes, secondsUntil } from "./times.ts";

type LeaseDeps = Pick<RefreshContext, "records" | "now" | "timer" | "times">;

/** Whether somebody may be at work. From the second `until` on nobody is. */
//= bar#8.2-2
export function isHeld(lease: Lease | undefined, now: EpochSeconds): boolean {
  return lease !== undefined && now < lease.until;
}

/**
 * @returns `held` by somebody, or `changed`: the row is no longer as it was read. Also for a process that stood still
 *   meanwhile: somebody else may have rotated the refresh token by now, and a second use of it can end the grant
 */
export async function takeLease(
  current: CurrentRecord,
  { records, now, timer, times }: LeaseDeps,
): Promise<Attempt | "held" | "changed"> {
  const at = now();
  if (isHeld(current.lease, at)) return "held";
  const startedMs = timer.elapsedMs();
  const attemptId = randomBytes(16).toString("base64url");
  // An owner for each attempt and not for the process: an answer that comes late must not pass for that of the next one.
  const lease: Lease = { owner: attemptId, until: at + times.leaseSeconds, attemptId };
  const over = await records.note(current, { lease });
  if (over === undefined) return "changed";
  const attempt = { over, lease, afterCrash: current.lease !== undefined };
  //= bar#8.2-3
  if (isInTime(startedMs, { timer, times })) return attempt;
  await giveBack(attempt, { spent: false }, { records, now });
  return "changed";
}

/**
 * Ends the lease without tokens. Where the vendor may have seen the refresh token, then or in an attempt before, the
 * lease stays in the row as an expired one: whoever comes next can take it at once and knows.
 * Best effort: a lease that cannot be ended ends by itself.
 */
export async function giveBack(
  { over, lease, afterCrash }: Attempt,
  { spent }: { readonly spent: boolean },
  { records, now }: Pick<LeaseDeps, "records" | "now">,
): Promise<void> {
  const ended = spent || afterCrash ? { ...lease, until: Math.min(lease.until, now()) } : null;
  await records.note(over, { lease: ended }).catch(() => undefined);
}

/** @returns what a caller gets who cannot wait any longer */
export function busy({ lease }: CurrentRecord, { now }: Pick<LeaseDeps, "now">): OAuthError {
  return new OAuthError("temporarily_unavailable", "The tokens are being refreshed", {
    reason: "refresh_in_progress",
    ...(lease === undefined ? {} : { retryAfterSeconds: secondsUntil(lease.until, now()) }),
  });
}

/** The row stands under our lease no more, though by our clock it still runs, and no new authorization explains it. */
export function isStolen(
  { over, lease }: Attempt,
  { stored, lease: found }: CurrentRecord,
  { now }: Pick<LeaseDeps, "now">,
): boolean {
  const isExplained = found === undefined && stored.version !== over.stored.version;
  return isHeld(lease, now()) && found?.owner !== lease.owner && !isExplained;
}

const QUIET_SECONDS = 60;

/**
 * Notices clocks that are further apart than the lease allows for, from what other processes wrote:
 * tokens of the future, a lease longer than a lease can be. Either clock may be the wrong one.
 *
 * @returns to be called with every record read; reports once a minute
 */
//= bar#8.4
export function createClockWatch({
  now,
  times: { skewSeconds, leaseSeconds },
  onEvent,
}: {
  readonly now: Clock;
  readonly times: Pick<RefreshTimes, "skewSeconds" | "leaseSeconds">;
  readonly onEvent: (event: RefreshEvent) => void;
}): (current: CurrentRecord) => void {
  let quietUntil = 0;
  return ({ key, stored, lease }) => {
    const at = now();
    const ahead = Math.max(stored.writtenAt - at, (lease?.until ?? 0) - leaseSeconds - at);
    // A clock that was put back must not keep this quiet for as long.
    const isQuiet = at < quietUntil && quietUntil <= at + QUIET_SECONDS;
    if (ahead <= skewSeconds || isQuiet) return;
    quietUntil = at + QUIET_SECONDS;
    onEvent({ name: "clock_skew", vendor: key.vendor });
  };
}
