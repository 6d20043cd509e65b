/**
 * Waits for a lock that another process holds, without blocking this one, and lets the writes of
 * one turn of the event loop share an attempt. Sits between the calls of record-store.ts and the
 * engine. One queue per store: only its front is tried, so the attempts do not grow with the calls.
 * While the lock is held, every call is refused in time, and any beyond a thousand at once. A call
 * that is late because this process was busy is tried all the same: the store is not what failed.
 */

/**
 * From the call to its refusal. Bar 8.3 requires three seconds; the rest is margin for a busy
 * machine.
 */
const GIVE_UP_AFTER_MS = 2500;
/**
 * Between attempts, the last repeated. A write holds the lock for some 20 µs, so the first are
 * the next turns of the event loop.
 */
const PAUSES_MS = [0, 0, 1, 2, 4, 8, 16, 32];
const LONGEST_PAUSE_MS = 50;
const MOST_WAITING = 1000;
/** Longer transactions would block the process, and other processes, in turn. */
const MOST_TOGETHER = 64;
/**
 * Calls served without a pause once the lock is free, so that a thousand waiting calls do not block
 * the process in turn.
 */
const SERVE_FOR_MS = 2;
/** The next turn of the event loop itself, also in a test that controls time. */
const nextTurn = setImmediate;

interface Waiting<Operation> {
  readonly deadline: number;
  /** An attempt is made alone, an operation together with those that stand next to it. */
  readonly work: { readonly attempt: () => unknown } | { readonly operation: Operation };
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * @param deps.isBusy whether an error means that the lock is held, and so that nothing was done
 * @param deps.refusal the error for a call that waited in vain
 * @param deps.attemptAll tries several operations as one; returns by operation what became of it
 */
export function createLockQueue<Operation>({
  isBusy,
  refusal,
  attemptAll,
}: {
  readonly isBusy: (error: unknown) => boolean;
  readonly refusal: (busy: unknown) => Error;
  readonly attemptAll: (operations: readonly Operation[]) => readonly PromiseSettledResult<unknown>[];
}) {
  let waiting: Waiting<Operation>[] = [];
  let triesInVain = 0;
  /** The engine's error of the last attempt. */
  let busy: unknown;
  const deadlineOfNow = (): number => performance.now() + GIVE_UP_AFTER_MS;

  const tryAgainLater = (): void => {
    const pause = PAUSES_MS[triesInVain] ?? LONGEST_PAUSE_MS;
    if (pause === 0) setImmediate(serveThem);
    else setTimeout(serveThem, pause);
  };
  const refuse = (refused: readonly Waiting<Operation>[]): void => {
    for (const { reject } of refused) reject(refusal(busy));
  };
  const refuseTheLate = (): void => {
    const now = performance.now();
    const isLate = ({ deadline }: Waiting<Operation>): boolean => deadline <= now;
    if (!waiting.some(isLate)) return;
    const late = waiting.filter(isLate);
    waiting = waiting.filter((one) => !isLate(one));
    refuse(late);
  };
  /** The calls from there on that one attempt serves: one alone, or several together. */
  const frontAt = (from: number): readonly Waiting<Operation>[] => {
    let end = from;
    while (end - from < MOST_TOGETHER && "operation" in (waiting[end]?.work ?? {})) end += 1;
    return waiting.slice(from, Math.max(end, from + 1));
  };
  const tryFront = (front: readonly Waiting<Operation>[]): readonly PromiseSettledResult<unknown>[] => {
    const [first] = front;
    if (first !== undefined && "attempt" in first.work) return [{ status: "fulfilled", value: first.work.attempt() }];
    return attemptAll(front.flatMap(({ work }) => ("operation" in work ? [work.operation] : [])));
  };
  /** @returns false when the lock is still held */
  const serve = (front: readonly Waiting<Operation>[]): boolean => {
    try {
      for (const [at, result] of tryFront(front).entries()) {
        if (result.status === "fulfilled") front[at]?.resolve(result.value);
        else front[at]?.reject(result.reason);
      }
    } catch (error) {
      if (isBusy(error)) {
        busy = error;
        return false;
      }
      for (const { reject } of front) reject(error instanceof Error ? error : refusal(error));
    }
    return true;
  };
  const serveThem = (): void => {
    const turnEnds = performance.now() + SERVE_FOR_MS;
    let served = 0;
    let isHeld = false;
    while (served < waiting.length && !isHeld) {
      const front = frontAt(served);
      if (serve(front)) served += front.length;
      else isHeld = true;
      if (performance.now() >= turnEnds) break;
    }
    waiting.splice(0, served);
    triesInVain = served === 0 ? triesInVain + 1 : 0;
    if (isHeld) {
      refuseTheLate();
      refuse(waiting.splice(MOST_WAITING));
    }
    if (waiting.length > 0) tryAgainLater();
  };

  const stand = (work: Waiting<Operation>["work"], deadline: number): Promise<unknown> => {
    if (triesInVain > 0 && waiting.length >= MOST_WAITING) throw refusal(busy);
    return new Promise((resolve, reject) => {
      waiting.push({ deadline, work, resolve, reject });
      if (waiting.length > 1) return;
      triesInVain = 0;
      if ("operation" in work) nextTurn(serveThem);
      else tryAgainLater();
    });
  };
  const standAlone = <T>(attempt: () => T, deadline = deadlineOfNow()): Promise<T> =>
    stand({ attempt }, deadline) as Promise<T>;
  const runAhead = <T>(attempt: () => T, deadline?: number): T | Promise<T> => {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error)) throw error;
      busy = error;
      return standAlone(attempt, deadline);
    }
  };

  return {
    /** When a call that starts now has to be answered, in milliseconds of a monotonic clock. */
    deadline: deadlineOfNow,
    /**
     * @param deadline of the call that this is a part of; left out, it is the whole call
     * @returns the result at once when no call waits and the lock is free
     * @throws what `attempt` throws
     */
    run: <T>(attempt: () => T, deadline?: number): T | Promise<T> =>
      waiting.length === 0 ? runAhead(attempt, deadline) : standAlone(attempt, deadline),
    /**
     * The same past the waiting calls, for a call that probably needs no lock; when it does, it
     * queues behind them.
     */
    runAhead,
    /**
     * In the next turn of the event loop, in one attempt with those that stand next to it. While the
     * lock is held, later calls join it.
     *
     * @returns what the operation returns; refused alone when only its own result is an error
     */
    runTogether: async (operation: Operation, deadline: number): Promise<unknown> => stand({ operation }, deadline),
  };
}
