/**
 * The right to call the vendor with one refresh token, as a record in the store: taken by creating
 * it, or by taking over one whose call failed; it ends by itself when its holder died. Caller:
 * single-flight.ts.
 */
import type { Clock, RecordKey, RecordStore } from "@oauth-broker/oauth-core";
import { VENDOR_OPERATION_SECONDS } from "@oauth-broker/oauth-core/vendor-client";
import type { Deps } from "../deps.ts";

/** How long the store may take to grant a lease. */
const TAKING_SECONDS = 5;
const SKEW_SECONDS = 5;
/** A vendor operation ends before its lease does. */
const LEASE_SECONDS = VENDOR_OPERATION_SECONDS + TAKING_SECONDS + SKEW_SECONDS;
/** Between two attempts to end a lease that the store left behind. */
const RELEASE_MS = 500;
const MOST_LEFT_BEHIND = 1_000;

/** A record in the stage `calling`. */
export type Lease = Readonly<ReturnType<typeof newLease>>;

/** @param holder drawn at random for each caller */
export function newLease(key: RecordKey, holder: string, now: Clock) {
  return { key, holder, expiresAt: now() + LEASE_SECONDS };
}

export async function createLease({ key, holder, expiresAt }: Lease, records: RecordStore): Promise<boolean> {
  //= bar#RF-1
  return (await records.create({ key, stage: "calling", data: { v: 1, holder }, expiresAt })) === "created";
}

/** Replaces exactly the failure that was read, not a result stored since. */
export async function takeOver(
  { key, holder, expiresAt }: Lease,
  failed: string,
  records: RecordStore,
): Promise<boolean> {
  const { outcome } = await records.advance(
    key,
    { stage: "settled", expect: { holder: failed } },
    { stage: "calling", set: { holder }, remove: ["sealed", "ok"], expiresAt },
  );
  return outcome === "moved";
}

/**
 * @returns false also for a lease that could end before the vendor answers, because the store was
 *   slow or this process was suspended: the vendor is not called under it
 */
//= bar#8.2-3
export async function isTaken(
  taking: Promise<boolean>,
  lease: Lease,
  deps: Pick<Deps, "records" | "now"> & { readonly leftBehind: LeftBehind },
): Promise<boolean> {
  const taken = await taking.catch((error: unknown) => {
    // The write may have been made, although its answer is lost.
    deps.leftBehind.add(lease);
    throw error;
  });
  const hasTime = deps.now() + VENDOR_OPERATION_SECONDS + SKEW_SECONDS <= lease.expiresAt;
  if (taken && !hasTime) await endLease(lease, deps).catch(() => deps.leftBehind.add(lease));
  //= bar#8.2-3
  return taken && hasTime;
}

/** Ends this lease and no other's. */
export async function endLease({ key, holder }: Lease, { records, now }: Pick<Deps, "records" | "now">): Promise<void> {
  const from = { stage: "calling", expect: { holder } };
  await records.advance(key, from, { stage: "released", set: {}, expiresAt: now() });
}

/**
 * Leases that the store left behind: the answer to taking one was lost, or it could not be ended.
 * Without a call they would keep every client waiting until they expire, so they are ended in the
 * background, as soon as the store answers.
 */
export type LeftBehind = ReturnType<typeof createLeftBehind>;

/** One per process: with any number of them, a store that is away gets one request at a time. */
export function createLeftBehind(deps: Pick<Deps, "records" | "now" | "timer">) {
  const leases = new Set<Lease>();
  let isRunning = false;

  const isOver = async (lease: Lease): Promise<boolean> => {
    if (deps.now() >= lease.expiresAt) return true;
    return endLease(lease, deps).then(
      () => true,
      () => false,
    );
  };
  const run = async (): Promise<void> => {
    while (leases.size > 0) {
      await deps.timer.sleep(RELEASE_MS, { background: true });
      for (const lease of leases) {
        // Still away: it would not answer for the next one either.
        if (!(await isOver(lease))) break;
        leases.delete(lease);
      }
    }
    isRunning = false;
  };

  return {
    /** Beyond `MOST_LEFT_BEHIND` it is left to expire. One that reaches the store later still expires, too. */
    add: (lease: Lease): void => {
      if (leases.size >= MOST_LEFT_BEHIND) return;
      leases.add(lease);
      if (isRunning) return;
      isRunning = true;
      void run();
    },
  };
}
