/**
 * Leases that the store left behind: the answer to taking one was lost, or it could not be ended.
 * Without a call they would keep every client waiting until they expire, so they are ended in the
 * background, as soon as the store answers. Used by single-flight.ts.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { EpochSeconds, RecordKey } from "@oauth-broker/oauth-core";
import type { Deps } from "../deps.ts";

/** A record in the stage `calling`. */
export interface Lease {
  readonly key: RecordKey;
  /** Drawn at random for each caller. */
  readonly holder: string;
  readonly expiresAt: EpochSeconds;
}

export interface LeftBehind {
  /** Beyond `MOST` it is left to expire. One that reaches the store later still expires, too. */
  add(lease: Lease): void;
}

type StoreDeps = Pick<Deps, "records" | "now">;

const PAUSE_MS = 500;
const MOST = 1_000;

/** Ends this lease and no other's. */
export async function endLease({ key, holder }: Lease, { records, now }: StoreDeps): Promise<void> {
  const from = { stage: "calling", expect: { holder } };
  await records.advance(key, from, { stage: "released", set: {}, expiresAt: now() });
}

/** One per process: however many there are, a store that is away gets one request at a time. */
export function createLeftBehind(deps: StoreDeps): LeftBehind {
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
      await sleep(PAUSE_MS, undefined, { ref: false });
      for (const lease of leases) {
        // Still away: it would not answer for the next one either.
        if (!(await isOver(lease))) break;
        leases.delete(lease);
      }
    }
    isRunning = false;
  };

  return {
    add: (lease) => {
      if (leases.size >= MOST) return;
      leases.add(lease);
      if (isRunning) return;
      isRunning = true;
      void run();
    },
  };
}
