/**
 * One deadline for all requests of one operation at a vendor: the token request and the requests
 * its response makes necessary. Each request also has egress's own limit.
 */
import type { Timer } from "../ports.ts";
import { OAuthError } from "../protocol/errors.ts";

/** No operation at a vendor takes longer; a lease on one must last longer than this. */
export const VENDOR_OPERATION_SECONDS = 20;

/** @returns a signal that fires when the operation has to end */
export type Deadline = () => AbortSignal;

const SHARED_MILLISECONDS = 1_000;

/**
 * Operations that begin within the same second share a signal, because a signal for each costs more
 * than the rest of the bookkeeping. An operation therefore has between 19 and 20 seconds; less
 * if the process was busy for longer than that second.
 */
export function createDeadline(timer: Timer): Deadline {
  let signal: AbortSignal | undefined;
  return () => {
    if (signal === undefined) {
      signal = timer.timeout(VENDOR_OPERATION_SECONDS * 1000);
      void timer.sleep(SHARED_MILLISECONDS, { background: true }).then(() => (signal = undefined));
    }
    return signal;
  };
}

/**
 * Waits for work that other callers may share: the wait ends, the work goes on.
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
