/** The faults of KMS as its callers see them. */
import { seededNumbers } from "../seeded.ts";
import { kmsError, type KmsErrorName } from "./errors.ts";

export interface KmsFault {
  /**
   * - `throttle`: ThrottlingException; `internal`: KMSInternalException, 500; `unavailable`:
   *   DependencyTimeoutException, 503
   * - `delay`: the work is done and answered after `delayMs`
   * - `hang`: no response, the connection stays open
   * - `drop`: the work is done, the connection is closed without a response
   */
  readonly kind: keyof typeof ERRORS | "delay" | "hang" | "drop";
  /**
   * The share of calls with the fault, 0 to 1; default 1. The same calls in the same order have it
   * in every run.
   */
  readonly rate?: number;
  /** For `delay`; default 1,000. */
  readonly delayMs?: number;
}

const ERRORS = {
  throttle: [
    "ThrottlingException",
    "You have exceeded the rate at which you may call KMS. Reduce the frequency of your calls.",
  ],
  internal: ["KMSInternalException", "An internal error occurred."],
  unavailable: ["DependencyTimeoutException", "A dependency did not answer in time."],
} as const satisfies Readonly<Record<string, readonly [KmsErrorName, string]>>;

const SEED = 20_260_101;

export function createFaultSwitch() {
  let fault: KmsFault | undefined;
  let number = seededNumbers(SEED);
  return {
    /** Each fault draws the same numbers, after any number of calls. */
    set(next: KmsFault | undefined): void {
      fault = next;
      number = seededNumbers(SEED);
    },
    /**
     * @returns the fault of the next call.
     * @throws Error named after the fault, if KMS responds with an error
     */
    next(): KmsFault | undefined {
      if (fault === undefined || number() >= (fault.rate ?? 1)) return undefined;
      const { kind } = fault;
      if (kind === "delay" || kind === "hang" || kind === "drop") return fault;
      const [name, message] = ERRORS[kind];
      throw kmsError(name, message);
    },
  };
}
