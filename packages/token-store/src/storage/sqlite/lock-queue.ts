/**
 * Waits for a lock that another process holds, without blocking this one. Sits between the calls of
 * record-store.ts and the engine. One waiter per store: while a call waits, later ones queue behind
 * it and only the first of them retries, so the attempts do not grow with the calls. Every call is
 * refused in time, and any beyond a thousand at once.
 */

/**
 * From the call to its refusal. Bar 8.3 requires three seconds; the rest is margin for a busy
 * machine.
 */
const GIVE_UP_AFTER_MS = 2500;
/**
 * Between attempts, the last one repeated. A write holds the lock for some 20 µs, so the first are
 * the next turns of the event loop.
 */
const PAUSES_MS = [0, 0, 1, 2, 4, 8, 16, 32];
const LONGEST_PAUSE_MS = 50;
const MOST_WAITING = 1000;
/**
 * Calls served without a pause once the lock is free, so that a thousand waiting calls do not block
 * the process in turn.
 */
const SERVE_FOR_MS = 2;

export interface LockQueue {
  /** Whether calls wait for the lock. */
  isWaiting(): boolean;
  /** When a call that starts now has to be answered, in milliseconds of a monotonic clock. */
  deadline(): number;
  /**
   * @param deadline of the call that this is a part of; left out, it is the whole call
   * @returns the result at once when no call waits and the lock is free
   * @throws what `attempt` throws
   */
  run<T>(attempt: () => T, deadline?: number): T | Promise<T>;
  /**
   * The same past the waiting calls, for a call that probably needs no lock; when it does, it
   * queues behind them.
   */
  runAhead<T>(attempt: () => T, deadline?: number): T | Promise<T>;
}

interface Waiting {
  readonly deadline: number;
  /** @returns false when the lock is still held */
  readonly serve: () => boolean;
  readonly refuse: () => void;
}

/**
 * @param deps.isBusy whether an error means that the lock is held, and so that nothing was done
 * @param deps.refusal the error for a call that waited in vain
 */
export function createLockQueue({
  isBusy,
  refusal,
}: {
  readonly isBusy: (error: unknown) => boolean;
  readonly refusal: (busy: unknown) => Error;
}): LockQueue {
  let waiting: Waiting[] = [];
  let triesInVain = 0;
  /** The engine's error of the last attempt. */
  let busy: unknown;
  const deadlineOfNow = (): number => performance.now() + GIVE_UP_AFTER_MS;

  const tryAgainLater = (): void => {
    const pause = PAUSES_MS[triesInVain] ?? LONGEST_PAUSE_MS;
    if (pause === 0) setImmediate(serveThem);
    else setTimeout(serveThem, pause);
  };
  const refuseTheLate = (): void => {
    const now = performance.now();
    const late = waiting.filter(({ deadline }) => deadline <= now);
    if (late.length === 0) return;
    waiting = waiting.filter(({ deadline }) => deadline > now);
    for (const { refuse } of late) refuse();
  };
  const serveThem = (): void => {
    refuseTheLate();
    const turnEnds = performance.now() + SERVE_FOR_MS;
    let served = 0;
    while (waiting[served]?.serve() === true) {
      served += 1;
      if (performance.now() >= turnEnds) break;
    }
    waiting.splice(0, served);
    triesInVain = served === 0 ? triesInVain + 1 : 0;
    if (waiting.length > 0) tryAgainLater();
  };

  const stand = <T>(attempt: () => T, deadline = deadlineOfNow()): Promise<T> => {
    if (waiting.length >= MOST_WAITING) throw refusal(busy);
    return new Promise((resolve, reject) => {
      const serve = (): boolean => {
        try {
          resolve(attempt());
        } catch (error) {
          if (isBusy(error)) {
            busy = error;
            return false;
          }
          reject(error instanceof Error ? error : refusal(error));
        }
        return true;
      };
      waiting.push({ deadline, serve, refuse: () => reject(refusal(busy)) });
      if (waiting.length > 1) return;
      triesInVain = 0;
      tryAgainLater();
    });
  };
  const runAhead = <T>(attempt: () => T, deadline?: number): T | Promise<T> => {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error)) throw error;
      busy = error;
      return stand(attempt, deadline);
    }
  };

  return {
    isWaiting: () => waiting.length > 0,
    deadline: deadlineOfNow,
    run: (attempt, deadline) => (waiting.length === 0 ? runAhead(attempt, deadline) : stand(attempt, deadline)),
    runAhead,
  };
}
