/**
 * A bounded queue with lanes: it limits the calls under way in total and per lane, and serves
 * waiting calls lane by lane, so that no lane waits for all calls of another. A lane is a client,
 * an address, a vendor; with a single lane, calls are served in order.
 */
import type { Timer } from "../ports.ts";

/** How many calls may be under way and how many may wait. */
export interface TurnsOptions {
  /** Calls under way at once, over all lanes. Default: no bound. */
  readonly most?: number;
  /**
   * The limit of one lane, read again whenever one of its calls may begin. If it throws, the call
   * and all calls waiting in the lane are refused with that error. Default: no limit per lane.
   */
  readonly mostOfLane?: (lane: string) => number;
  /** Calls of one lane under way or waiting. Default: no bound. */
  readonly mostInLane?: number;
  /** Calls that wait, over all lanes. Default: no bound. */
  readonly mostWaiting?: number;
  /** The error of a refused call. */
  readonly refusal: (why: Refusal) => Error;
  readonly timer: Pick<Timer, "elapsedMs" | "after">;
}

/** No room to wait; no turn in time; the signal fired. */
export type Refusal = "full" | "late" | "aborted";

/** How long one call may wait. */
export interface Turn {
  /**
   * How long a call may wait for its turn; 0 means a free place now or a refusal. Default: no
   * limit.
   */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
}

/** The queue. A lane is any text. */
export interface Turns {
  /**
   * Makes the call when its turn has come.
   *
   * @param call gets the milliseconds that are left of `timeoutMs`
   * @throws what `refusal` gives, without calling
   */
  run<T>(lane: string, turn: Turn, call: (leftMs: number) => Promise<T>): Promise<T>;
  /** Resolves when no call is under way or waiting. */
  idle(): Promise<void>;
}

interface Waiting {
  /** @returns false when it has waited too long and is refused */
  start(): boolean;
  giveUp(error: Error): void;
}

interface Lane {
  running: number;
  readonly waiting: Set<Waiting>;
}

/** @returns a queue with no call under way */
export function createTurns({
  most = Infinity,
  mostOfLane = () => Infinity,
  mostInLane = Infinity,
  mostWaiting = Infinity,
  refusal,
  timer,
}: TurnsOptions): Turns {
  // In order of service: the first lane has waited longest for a turn.
  const lanes = new Map<string, Lane>();
  const untilIdle: (() => void)[] = [];
  let running = 0;
  let waiting = 0;

  // The lane first: when it has no room at all, its calls are refused even while every place is
  // taken.
  const mayBegin = (name: string, lane: Lane): boolean => lane.running < mostOfLane(name) && running < most;

  const begin = (lane: Lane): void => {
    running += 1;
    lane.running += 1;
  };

  const laneOf = (name: string): Lane => {
    const known = lanes.get(name);
    if (known !== undefined) return known;
    const lane: Lane = { running: 0, waiting: new Set() };
    lanes.set(name, lane);
    return lane;
  };

  const dropIfEmpty = (name: string, lane: Lane): void => {
    if (lane.running > 0 || lane.waiting.size > 0 || lanes.get(name) !== lane) return;
    lanes.delete(name);
    if (lanes.size === 0) for (const resolve of untilIdle.splice(0)) resolve();
  };

  /** @returns whether a call of the lane began */
  const serve = (name: string, lane: Lane): boolean => {
    try {
      if (lane.waiting.size === 0 || !mayBegin(name, lane)) return false;
    } catch (error) {
      const refused = error instanceof Error ? error : refusal("full");
      for (const each of lane.waiting) each.giveUp(refused);
      return false;
    }
    for (const next of lane.waiting) if (next.start()) return true;
    return false;
  };

  /** A lane that was served moves to the end of the order. */
  const serveAll = (): void => {
    for (const [name, lane] of lanes) {
      if (!serve(name, lane)) continue;
      lanes.delete(name);
      lanes.set(name, lane);
    }
  };

  /** @returns the milliseconds left when the turn has come */
  const waitForTurn = (name: string, lane: Lane, { timeoutMs = Infinity, signal }: Turn): Promise<number> => {
    if (timeoutMs <= 0) throw refusal("late");
    if (lane.running + lane.waiting.size >= mostInLane || waiting >= mostWaiting) throw refusal("full");
    const since = timer.elapsedMs();
    return new Promise((resolve, reject) => {
      let stopTimer: (() => void) | undefined;
      const settle = (): void => {
        lane.waiting.delete(one);
        waiting -= 1;
        stopTimer?.();
        signal?.removeEventListener("abort", onAbort);
      };
      const giveUp = (error: Error): void => {
        settle();
        dropIfEmpty(name, lane);
        reject(error);
      };
      const onAbort = (): void => giveUp(refusal("aborted"));
      const start = (): boolean => {
        const leftMs = timeoutMs - (timer.elapsedMs() - since);
        if (leftMs < 0) {
          giveUp(refusal("late"));
          return false;
        }
        settle();
        begin(lane);
        resolve(leftMs);
        return true;
      };
      const one: Waiting = { start, giveUp };
      if (timeoutMs < Infinity) stopTimer = timer.after(timeoutMs, () => giveUp(refusal("late")));
      signal?.addEventListener("abort", onAbort, { once: true });
      lane.waiting.add(one);
      waiting += 1;
    });
  };

  return {
    run: async (name, turn, call) => {
      const lane = laneOf(name);
      let leftMs = turn.timeoutMs ?? Infinity;
      try {
        if (mayBegin(name, lane)) begin(lane);
        else leftMs = await waitForTurn(name, lane, turn);
      } catch (error) {
        dropIfEmpty(name, lane);
        throw error;
      }
      try {
        return await call(leftMs);
      } finally {
        running -= 1;
        lane.running -= 1;
        serveAll();
        dropIfEmpty(name, lane);
      }
    },
    idle: () => (lanes.size === 0 ? Promise.resolve() : new Promise((resolve) => untilIdle.push(resolve))),
  };
}
