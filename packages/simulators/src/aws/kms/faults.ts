/** The faults of KMS as its callers see them. */
import { seededNumbers } from "../seeded.ts";
import { kmsError } from "./errors.ts";

export interface KmsFault {
  /**
   * - `throttle`: ThrottlingException; `internal`: KMSInternalException, 500; `unavailable`:
   *   DependencyTimeoutException, 503
   * - `delay`: the work is done and answered after `delayMs`
   * - `hang`: no response, the connection stays open
   * - `drop`: the work is done, the connection is closed without a response
   */
  readonly kind: "throttle" | "internal" | "unavailable" | "delay" | "hang" | "drop";
  /**
   * The share of calls with the fault, 0 to 1; default 1. The same calls in the same order have it
   * in every run.
   */
  readonly rate?: number;
  /** For `delay`; default 1,000. */
  readonly delayMs?: number;
}

const SEED = 20_260_101;

export function createFaultSwitch() {
  let fault: KmsFault | undefined;
  let number = seededNumbers(SEED);
  return {
    /** Each fault draws the same numbers, however many calls there were before it. */
    set(next: KmsFault | undefined): void {
      fault = next;
      number = seededNumbers(SEED);
    },
    /**
     * @returns the fault of the next call.
     * @throws Error named after the fault, if KMS responds with an error
     */
    next(): { readonly kind: "none" | "delay" | "hang" | "drop"; readonly delayMs: number } {
      if (fault === undefined || number() >= (fault.rate ?? 1)) return { kind: "none", delayMs: 0 };
      const { kind, delayMs = 1000 } = fault;
      switch (kind) {
        case "throttle":
          throw kmsError(
            "ThrottlingException",
            "You have exceeded the rate at which you may call KMS. Reduce the frequency of your calls.",
          );
        case "internal":
          throw kmsError("KMSInternalException", "An internal error occurred.");
        case "unavailable":
          throw kmsError("DependencyTimeoutException", "A dependency did not answer in time.");
        case "delay":
        case "hang":
        case "drop":
          return { kind, delayMs };
        default:
          return kind satisfies never;
      }
    },
  };
}
