/**
 * Limits calls to the key service: few at once, a bounded queue, and a deadline for every caller.
 * Otherwise a cold start after an outage would request every row's data key in the same moment and
 * be throttled for it.
 */
import { createTurns, type Timer } from "@oauth-broker/oauth-core";
import { kmsUnavailable } from "./kms-errors.ts";

/** Callers get an answer within five seconds, even if the service takes nine. */
export const DATA_KEY_TIMEOUT_MS = 4900;
export const MAX_WAITING = 1000;
const AT_ONCE = 20;

export type CallQueue = <T>(call: () => Promise<T>) => Promise<T>;

/**
 * First come, first served.
 *
 * @returns runs a call when its turn comes. Rejects with OAuthError temporarily_unavailable, reason
 *   `kms_unavailable`, without calling when the queue is full, or when its turn does not come in
 *   time
 */
export function callQueue(timer: Timer): CallQueue {
  const turns = createTurns({
    most: AT_ONCE,
    mostWaiting: MAX_WAITING,
    timer,
    refusal: (why) =>
      why === "full" ? kmsUnavailable(`${MAX_WAITING} calls to the key service are waiting already`) : tooLate(),
  });
  return (call) => turns.run("", { timeoutMs: DATA_KEY_TIMEOUT_MS }, call);
}

/** Waits for a call that other callers may share; the call goes on when this caller gives up. */
export async function withTimeLimit<T>(call: Promise<T>, timer: Timer): Promise<T> {
  const late = Promise.withResolvers<never>();
  const stop = timer.after(DATA_KEY_TIMEOUT_MS, () => late.reject(tooLate()));
  try {
    return await Promise.race([call, late.promise]);
  } finally {
    stop();
  }
}

function tooLate(): Error {
  return kmsUnavailable(
    `no data key within ${DATA_KEY_TIMEOUT_MS} ms: the key service is slow, or asked for too many at once`,
  );
}
