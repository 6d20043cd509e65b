/**
 * When to delete rows that are no longer needed: a little after every so many writes, and now and
 * then while idle. Always a small batch at a time, on timers that keep no process alive. No result
 * depends on it: expiry is checked where records are read.
 */

const EVERY_WRITES = 64;
const IDLE_MS = 60_000;
const MORE_TO_DO_MS = 50;

/** @param sweep processes the next batch; returns whether it was the last of a pass */
export function createSweeper(sweep: () => boolean) {
  let timer: NodeJS.Timeout | undefined;
  let writes = 0;
  const after = (milliseconds: number): void => {
    clearTimeout(timer);
    timer = setTimeout(() => after(finished() ? IDLE_MS : MORE_TO_DO_MS), milliseconds).unref();
  };
  const finished = (): boolean => {
    try {
      return sweep();
    } catch {
      return true; // the engine is busy or down: other calls report that, these rows can wait
    }
  };
  return {
    start: (): void => after(IDLE_MS),
    /** Counts a write; every so many start the next batch early. */
    wrote: (): void => {
      writes += 1;
      if (writes % EVERY_WRITES === 0) after(0);
    },
    stop: (): void => clearTimeout(timer),
  };
}
