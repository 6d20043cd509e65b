import type { Clock, EpochSeconds } from "../ports.ts";

/** A clock that stands still until `advance` moves it. */
export function fixedClock(start: EpochSeconds): Clock & { advance(seconds: number): void } {
  let now = start;
  return Object.assign(() => now, {
    advance: (seconds: number): void => {
      now += seconds;
    },
  });
}
