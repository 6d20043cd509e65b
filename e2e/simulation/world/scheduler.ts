/**
 * Decides what happens next. Every answer of the store and of a vendor, every step of a user and
 * every wait in our code is an event. One event runs until nothing is left to do but to wait for
 * another, then the next is chosen: of those that are due, any; otherwise the earliest, and
 * virtual time moves to it.
 */
import type { Timer } from "@oauth-broker/oauth-core";

/** @returns which of `count` events comes next */
export type Choose = (count: number) => number;

export interface Scheduler {
  nowMs(): number;
  /** Runs it after that much virtual time. */
  later(delayMs: number, run: () => void): void;
  /** Resolves after that much virtual time. */
  wait(delayMs: number): Promise<void>;
  /** The port of our processes. */
  readonly timer: Timer;
  /** Runs events until `isOver`, or until nothing can happen any more. */
  run(isOver: () => boolean, afterEach: () => void): Promise<void>;
}

interface Event {
  readonly atMs: number;
  readonly run: () => void;
}

/** Rounds of the event loop without anything new before an event counts as over. */
const QUIET_ROUNDS = 3;

export function createScheduler(choose: Choose): Scheduler {
  const pending: Event[] = [];
  let nowMs = 0;
  let scheduled = 0;

  const later = (delayMs: number, run: () => void): void => {
    scheduled += 1;
    pending.push({ atMs: nowMs + delayMs, run });
  };
  const wait = (delayMs: number): Promise<void> => new Promise((resolve) => later(delayMs, resolve));

  const quiet = async (): Promise<void> => {
    for (let rounds = 0, before = scheduled; rounds < QUIET_ROUNDS; rounds += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      if (before !== scheduled) rounds = 0;
      before = scheduled;
    }
  };
  const takeNext = (): Event | undefined => {
    const soonest = Math.min(...pending.map(({ atMs }) => atMs));
    nowMs = Math.max(nowMs, soonest);
    const due = pending.filter(({ atMs }) => atMs <= nowMs);
    const next = due[due.length < 2 ? 0 : choose(due.length)];
    if (next !== undefined) pending.splice(pending.indexOf(next), 1);
    return next;
  };

  return {
    nowMs: () => nowMs,
    later,
    wait,
    timer: {
      sleep: wait,
      elapsedMs: () => nowMs,
      timeout: (ms) => {
        const controller = new AbortController();
        later(ms, () => controller.abort(new DOMException("The operation timed out", "TimeoutError")));
        return controller.signal;
      },
    },
    async run(isOver, afterEach) {
      await quiet();
      while (pending.length > 0 && !isOver()) {
        takeNext()?.run();
        await quiet();
        afterEach();
      }
    },
  };
}
