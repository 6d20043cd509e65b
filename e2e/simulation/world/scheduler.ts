/**
 * Decides what happens next. Every answer of the store and of a vendor, every step of a user and
 * every wait in our code is an event. One event runs until nothing is left to do but to wait for
 * another, then the next is chosen: of those that are due, any; otherwise the earliest, and
 * virtual time moves to it.
 */
import type { Timer } from "@oauth-broker/oauth-core";
import type { Random } from "../../support/seeded.ts";

/** What an event can have to do with another: the process that goes on with it, and what it reads or writes. */
export interface Touch {
  readonly process: string;
  /** It holds every place that its name begins. */
  readonly place: string;
  readonly isRead: boolean;
}

export interface Event {
  readonly atMs: number;
  readonly run: () => void;
  /** Absent: anything. */
  readonly touch: Touch | undefined;
}

/** @returns which of those that are due comes next; undefined: none, and the run ends there */
export type Choose = (due: readonly Event[]) => Event | undefined;

/** Any of them, by the numbers of a seed. */
export const anyOf =
  (random: Random): Choose =>
  (due) =>
    due.length < 2 ? due[0] : random.pick(due);

/**
 * Between two of them every promise goes on that can: nothing here waits for a thread or a socket.
 * So does it in a round of the event loop, but each of those asks the system for events.
 */
const IMMEDIATES_A_ROUND = 100;

export type Scheduler = ReturnType<typeof createScheduler>;
export function createScheduler(choose: Choose) {
  const pending: Event[] = [];
  let nowMs = 0;

  /**
   * Runs it after that much virtual time.
   *
   * @returns cancels it
   */
  const later = (delayMs: number, run: () => void, touch?: Touch): (() => void) => {
    const event = { atMs: nowMs + delayMs, run, touch };
    pending.push(event);
    return () => {
      if (pending.includes(event)) pending.splice(pending.indexOf(event), 1);
    };
  };
  /** Resolves after that much virtual time. */
  const wait = (delayMs: number, touch?: Touch): Promise<void> =>
    new Promise((resolve) => void later(delayMs, resolve, touch));

  const takeNext = (): Event | undefined => {
    const soonest = pending.reduce((least, { atMs }) => Math.min(least, atMs), Infinity);
    nowMs = Math.max(nowMs, soonest);
    const next = choose(pending.filter(({ atMs }) => atMs <= nowMs));
    if (next !== undefined) pending.splice(pending.indexOf(next), 1);
    return next;
  };

  return {
    nowMs: (): number => nowMs,
    later,
    wait,
    /** The port of one of our processes. */
    timerOf: (process: string): Timer => {
      const touch = { process, place: "time", isRead: true };
      return {
        sleep: (ms) => wait(ms, touch),
        elapsedMs: () => nowMs,
        after: (ms, act) => later(ms, act, touch),
        timeout: (ms) => {
          const controller = new AbortController();
          later(ms, () => controller.abort(new DOMException("The operation timed out", "TimeoutError")), touch);
          return controller.signal;
        },
      };
    },
    /** Runs events until `isOver`, or until nothing can happen any more. */
    async run(isOver: () => boolean, afterEach: () => void): Promise<void> {
      let goOn: (() => void) | undefined;
      const quiet = (): Promise<void> => new Promise((resolve) => (goOn = resolve));
      const round = (): void => {
        if (goOn === undefined) return;
        for (let left = IMMEDIATES_A_ROUND; left > 0; left -= 1) setImmediate(() => goOn?.());
        setImmediate(round);
      };
      try {
        const isReady = quiet();
        round();
        await isReady;
        while (pending.length > 0 && !isOver()) {
          const next = takeNext();
          if (next === undefined) return;
          next.run();
          await quiet();
          afterEach();
        }
      } finally {
        goOn = undefined;
      }
    },
  };
}
