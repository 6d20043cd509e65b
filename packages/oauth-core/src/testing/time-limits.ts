/**
 * Limits of time in tests. A busy machine is late with everything: a limit that ends a test which
 * hangs is `patience`, and a test that something comes in time compares it with a timer of the same
 * run, `soonerThan`.
 */
import { setTimeout as sleep } from "node:timers/promises";

/** How many times longer than on an idle machine anything may take in a test. */
const TIME_FACTOR = Number(process.env["TEST_TIME_FACTOR"] ?? 10);

/**
 * @param milliseconds more than an idle machine needs
 * @returns the limit for a busy machine
 */
export function patience(milliseconds: number): number {
  return milliseconds * TIME_FACTOR;
}

/**
 * Asserts an order, which a busy machine keeps, instead of a duration.
 *
 * @param call what has to be over first, with a result or an error
 * @throws Error when a timer that was started with the call is over first
 */
export async function soonerThan<T>(milliseconds: number, call: Promise<T>): Promise<T> {
  const stop = new AbortController();
  const late = sleep(milliseconds, "late" as const, { signal: stop.signal }).catch(() => "stopped" as const);
  try {
    const first = await Promise.race([call.then((result) => ({ result })), late]);
    if (typeof first === "string") throw new Error(`Not over after a timer of ${milliseconds} ms`);
    return first.result;
  } finally {
    stop.abort();
  }
}
