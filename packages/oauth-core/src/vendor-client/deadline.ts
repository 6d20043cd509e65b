/**
 * One deadline for all requests of one operation at a vendor: the token request and whatever its
 * answer makes necessary. Each request has egress's own limit besides.
 */
import { OAuthError } from "../protocol/errors.ts";

/** No operation at a vendor takes longer: a lease on one lasts longer than this. */
export const VENDOR_OPERATION_SECONDS = 20;

/** @returns a signal that fires when the operation has to end */
export type Deadline = () => AbortSignal;

const SHARED_MILLISECONDS = 1_000;

/**
 * Operations that begin within the same second share a signal, because a signal of its own costs
 * each of them more than the rest of the bookkeeping. An operation so has between 19 and 20
 * seconds.
 */
export function createDeadline(): Deadline {
  let signal: AbortSignal | undefined;
  let madeAt = 0;
  return () => {
    // Monotonic: what the wall clock does is of no interest.
    const at = performance.now();
    if (signal === undefined || at - madeAt >= SHARED_MILLISECONDS) {
      signal = AbortSignal.timeout(VENDOR_OPERATION_SECONDS * 1000);
      madeAt = at;
    }
    return signal;
  };
}

/**
 * Waits for what others may be waiting for too: the wait ends, not the work.
 *
 * @throws OAuthError temporarily_unavailable when the signal fires first
 */
export function waitUntil<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => {
      reject(new OAuthError("temporarily_unavailable", "The vendor cannot be reached", { detail: "out of time" }));
    };
    if (signal.aborted) giveUp();
    signal.addEventListener("abort", giveUp, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener("abort", giveUp));
  });
}
