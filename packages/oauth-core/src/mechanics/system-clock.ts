/** The Clock of a process that lives in real time. */
import type { Clock } from "../ports.ts";

const milliseconds = (): number => Date.now();

/** The machine's wall clock, for every app and package; only what starts one hands it on. */
export const systemClock: Clock & { readonly milliseconds: () => number } = Object.assign(
  () => Math.floor(milliseconds() / 1000),
  { milliseconds },
);
