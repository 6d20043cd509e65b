/** The Timer of a process that lives in real time. */
import { randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Timer } from "../ports.ts";

/** Waits as long as it says. */
export const systemTimer: Timer = {
  sleep: async (ms, { background = false, jitter = false } = {}) => {
    const wait = jitter ? ms / 2 + randomInt(0, Math.max(1, Math.ceil(ms))) : ms;
    await sleep(wait, undefined, { ref: !background });
  },
  elapsedMs: () => performance.now(),
  timeout: (ms) => AbortSignal.timeout(ms),
  after: (ms, act, { background = false } = {}) => {
    const timeout = setTimeout(act, ms);
    if (background) timeout.unref();
    return () => clearTimeout(timeout);
  },
};
