/**
 * Virtual time for tests of code that waits: no test waits in real time. When nothing else is left
 * to run, time jumps to the first sleeper. The clock shows the same time in whole seconds.
 */
import { createHook } from "node:async_hooks";
import type { Clock, Timer } from "@oauth-broker/oauth-core";

export interface VirtualTime {
  readonly timer: Timer;
  readonly now: Clock;
  advance(seconds: number): void;
}

export function virtualTime(start: number): VirtualTime {
  let elapsedMs = 0;
  let isPumping = false;
  const sleepers: { readonly wakeAt: number; readonly wake: () => void }[] = [];

  const pump = (): void => {
    isPumping = false;
    if (fileRequests.size > 0) return startPump();
    sleepers.sort((a, b) => a.wakeAt - b.wakeAt);
    const first = sleepers.shift();
    if (first === undefined) return;
    elapsedMs = Math.max(elapsedMs, first.wakeAt);
    first.wake();
    startPump();
  };
  const startPump = (): void => {
    if (isPumping || sleepers.length === 0) return;
    isPumping = true;
    // Twice: what a store's result triggers comes first.
    setImmediate(() => setImmediate(pump));
  };
  const after: Timer["after"] = (ms, wake) => {
    const sleeper = { wakeAt: elapsedMs + ms, wake };
    sleepers.push(sleeper);
    startPump();
    return () => {
      if (sleepers.includes(sleeper)) sleepers.splice(sleepers.indexOf(sleeper), 1);
    };
  };
  const sleep: Timer["sleep"] = (ms) => new Promise((resolve) => void after(ms, resolve));
  return {
    timer: {
      sleep,
      after,
      elapsedMs: () => elapsedMs,
      timeout: (ms) => {
        const controller = new AbortController();
        void sleep(ms).then(() => controller.abort());
        return controller.signal;
      },
    },
    now: () => start + Math.floor(elapsedMs / 1000),
    advance: (seconds) => {
      elapsedMs += seconds * 1000;
    },
  };
}

/**
 * Files are read and written in real time: virtual time stands still in the meantime. Counted by
 * hook, because `process.getActiveResourcesInfo` does not name pending `node:fs/promises` work. The
 * hook outlives the file in its worker, so it leaves promises alone.
 */
const fileRequests = new Set<number>();
createHook({
  trackPromises: false,
  init: (id, type) => void (/^FSREQ|^FILEHANDLECLOSE/.test(type) && fileRequests.add(id)),
  after: (id) => void fileRequests.delete(id),
  destroy: (id) => void fileRequests.delete(id),
}).enable();
