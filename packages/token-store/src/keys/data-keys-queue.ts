/**
 * The way to the key service: few calls at once, a bounded line behind them, and nobody waits for ever. A cold start
 * after an outage would otherwise send every row's data key there in the same moment and be throttled for it.
 */
import { kmsUnavailable } from "./kms-errors.ts";

/** Callers are answered within five seconds, also where the service takes nine. */
export const PATIENCE_MS = 4900;
export const MAX_WAITING = 1000;

export type CallQueue = <T>(call: () => Promise<T>) => Promise<T>;

interface Waiting {
  /** Monotonic milliseconds. */
  readonly since: number;
  start(): void;
  refuse(): void;
}

/**
 * First come, first served.
 *
 * @param maxConcurrency calls at once
 * @returns runs a call when it is its turn. Rejects with OAuthError temporarily_unavailable, reason `kms_unavailable`,
 *   without calling when too many wait, or when its turn comes after everybody's patience
 */
export function callQueue(maxConcurrency: number): CallQueue {
  const line: Waiting[] = [];
  let running = 0;

  const next = (): void => {
    for (let waiting = line.shift(); waiting !== undefined; waiting = line.shift()) {
      if (performance.now() - waiting.since < PATIENCE_MS) {
        waiting.start();
        return;
      }
      waiting.refuse();
    }
    running -= 1;
  };

  const turn = (): Promise<void> | undefined => {
    if (running < maxConcurrency) {
      running += 1;
      return undefined;
    }
    if (line.length >= MAX_WAITING) throw kmsUnavailable(`${MAX_WAITING} calls to the key service are waiting already`);
    return new Promise((resolve, reject) => {
      const refuse = (): void => reject(tooLate());
      line.push({ since: performance.now(), start: resolve, refuse });
    });
  };

  return async (call) => {
    await turn();
    try {
      return await call();
    } finally {
      next();
    }
  };
}

/** Waits for a call that others may wait for as well; the call goes on when this caller gives up. */
export async function patiently<T>(call: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(tooLate()), PATIENCE_MS);
  });
  try {
    return await Promise.race([call, late]);
  } finally {
    clearTimeout(timer);
  }
}

function tooLate(): Error {
  return kmsUnavailable(`no data key within ${PATIENCE_MS} ms: the key service is slow, or asked for too many at once`);
}
