/**
 * The lease on a record: one attempt to refresh it, across processes. Taken by a conditional write,
 * never renewed, given back when the attempt failed. An expired lease means that an attempt died,
 * which vendor-call.ts needs to know. The lease depends on clocks that agree, so this file also
 * watches those.
 */
import { randomBytes } from "node:crypto";
import { type EpochSeconds, OAuthError } from "@oauth-broker/oauth-core";
import type { CurrentRecord, Lease } from "../tokens/token-records.ts";
import type { TokenKey } from "../tokens/tokens.ts";
import type { Attempt, RefreshContext } from "./context.ts";
import { isInTime, secondsUntil } from "./times.ts";

type LeaseDeps = Pick<RefreshContext, "records" | "now" | "timer" | "times">;

/** Whether another attempt may be under way. From the second `until` on none is. */
//= bar#8.2-2
export function isHeld(lease: Lease | undefined, now: EpochSeconds): boolean {
  //= bar#8.2-2
  //= bar#RF-1
  return lease !== undefined && now < lease.until;
}

/**
 * @returns undefined when another attempt holds it, or the row is no longer as it was read. Also for
 *   a process that was suspended in the meantime: another process may have rotated the refresh token
 *   by now, and a second use of it can end the grant
 */
export async function takeLease(current: CurrentRecord, deps: LeaseDeps): Promise<Attempt | undefined> {
  const { records, now, timer, times } = deps;
  const at = now();
  if (isHeld(current.lease, at)) return undefined;
  const startedMs = timer.elapsedMs();
  const attemptId = randomBytes(16).toString("base64url");
  // An owner for each attempt and not for the process: a late answer must not pass for that of the
  // next attempt.
  const lease: Lease = { owner: attemptId, until: at + times.leaseSeconds, attemptId };
  const afterCrash = current.lease !== undefined;
  const over = await records.note(current, { lease }).catch((error: unknown) => {
    // The row may have it, although the answer is lost.
    void giveBackLater(current.key, { lease, afterCrash }, { spent: false }, deps);
    throw error;
  });
  if (over === undefined) return undefined;
  const attempt = { over, lease, afterCrash };
  //= bar#8.2-3
  if (isInTime(startedMs, { timer, times })) return attempt;
  await giveBack(attempt, { spent: false }, deps);
  return undefined;
}

/**
 * Ends the lease without tokens. When the vendor may have received the refresh token, in this or an
 * earlier attempt, the lease stays in the row and is expired: the next caller can take it at
 * once and sees that.
 */
export async function giveBack(
  attempt: Attempt,
  { spent }: { readonly spent: boolean },
  deps: LeaseDeps,
): Promise<void> {
  const { over } = attempt;
  await deps.records
    .note(over, { lease: endOf(attempt, { spent, at: deps.now() }) })
    .catch(() => void giveBackLater(over.key, attempt, { spent }, deps));
}

/**
 * Ends the lease in the background, as soon as the store answers: without an attempt it would keep
 * every caller waiting until it expires. Best effort: one that reaches the row later still expires.
 */
export async function giveBackLater(
  key: TokenKey,
  { lease, afterCrash }: Pick<Attempt, "lease" | "afterCrash">,
  { spent }: { readonly spent: boolean },
  { records, now, timer, times }: LeaseDeps,
): Promise<void> {
  for (;;) {
    await timer.sleep(times.retryMs, { background: true });
    if (!isHeld(lease, now())) return;
    try {
      const found = await records.read(key);
      if (found?.lease?.owner !== lease.owner) return;
      await records.note(found, { lease: endOf({ lease: found.lease, afterCrash }, { spent, at: now() }) });
      return;
    } catch {
      // Still away.
    }
  }
}

function endOf(
  { lease, afterCrash }: Pick<Attempt, "lease" | "afterCrash">,
  { spent, at }: { readonly spent: boolean; readonly at: EpochSeconds },
): Lease | null {
  return spent || afterCrash ? { ...lease, until: Math.min(lease.until, at) } : null;
}

/** @returns the error for a caller that cannot wait any longer */
export function busy({ lease }: CurrentRecord, { now }: Pick<LeaseDeps, "now">): OAuthError {
  return new OAuthError("temporarily_unavailable", "The tokens are being refreshed", {
    reason: "refresh_in_progress",
    ...(lease === undefined ? {} : { retryAfterSeconds: secondsUntil(lease.until, now()) }),
  });
}

/**
 * The row no longer carries our lease, although by our clock it has not expired and no new
 * authorization explains it.
 */
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
 * Detects clocks that are further apart than the lease allows for, from what other processes wrote:
 * tokens of the future, a lease longer than a lease can be. Either clock may be wrong.
 *
 * @returns call it with every record read; reports once a minute
 */
//= bar#8.4
export function createClockWatch({
  now,
  times,
  onEvent,
}: Pick<RefreshContext, "now" | "times" | "onEvent">): (current: CurrentRecord) => void {
  const { skewSeconds, leaseSeconds } = times;
  let quietUntil = 0;
  return ({ key, stored, lease }) => {
    const at = now();
    const ahead = Math.max(stored.writtenAt - at, (lease?.until ?? 0) - leaseSeconds - at);
    // After the clock was set back, the next report must not wait that much longer.
    const isQuiet = at < quietUntil && quietUntil <= at + QUIET_SECONDS;
    if (ahead <= skewSeconds || isQuiet) return;
    quietUntil = at + QUIET_SECONDS;
    onEvent({ name: "clock_skew", vendor: key.vendor });
  };
}
