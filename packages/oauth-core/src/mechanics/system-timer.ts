/** The Timer of a process that lives in real time. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Timer } from "../ports.ts";

/** Waits as long as it says. */
export const systemTimer: Timer = {
  sleep: async (ms, { background = false } = {}) => sleep(ms, undefined, { ref: !background }),
  elapsedMs: () => performance.now(),
  timeout: (ms) => AbortSignal.timeout(ms),
  after: (ms, act, { background = false } = {}) => {
    const timeout = setTimeout(act, ms);
    if (background) timeout.unref();
    return () => clearTimeout(timeout);
  },
};
