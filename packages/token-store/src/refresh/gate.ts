/**
 * At most so many refreshes at one vendor at once in this process: ten thousand tokens that expire together must not become
 * ten thousand requests, nor ten thousand rows contended for. Each vendor has its own places, so that one that hangs
 * holds up nobody else's users.
 */
import { OAuthError } from "@oauth-broker/oauth-core";
import type { Timer } from "./times.ts";

export interface Gate {
  /**
   * Runs the work when there is a place.
   *
   * @param patienceMs how long the place may be waited for; 0 takes a free one or none
   * @throws OAuthError temporarily_unavailable when there was none, at the latest when places become free
   */
  run<T>(vendor: string, patienceMs: number, work: () => Promise<T>): Promise<T>;
}

interface Waiter {
  readonly until: number;
  start(): void;
  refuse(): void;
}

interface Lane {
  running: number;
  readonly waiting: Waiter[];
}

/** @param most places for each vendor */
//= bar#8.2
export function createGate(most: number, { timer }: { readonly timer: Timer }): Gate {
  const lanes = new Map<string, Lane>();

  const leave = (vendor: string, lane: Lane): void => {
    lane.running -= 1;
    for (;;) {
      const next = lane.waiting.shift();
      if (next === undefined) break;
      if (timer.elapsedMs() <= next.until) {
        next.start();
        return;
      }
      next.refuse();
    }
    if (lane.running === 0) lanes.delete(vendor);
  };
  const enter = async (lane: Lane, patienceMs: number): Promise<void> => {
    if (lane.running < most) {
      lane.running += 1;
      return;
    }
    if (patienceMs === 0) throw noPlace();
    await new Promise<void>((resolve, reject) => {
      lane.waiting.push({
        until: timer.elapsedMs() + patienceMs,
        start: () => {
          lane.running += 1;
          resolve();
        },
        refuse: () => reject(noPlace()),
      });
    });
  };
  return {
    run: async (vendor, patienceMs, work) => {
      const lane = lanes.get(vendor) ?? { running: 0, waiting: [] };
      lanes.set(vendor, lane);
      await enter(lane, patienceMs);
      try {
        return await work();
      } finally {
        leave(vendor, lane);
      }
    },
  };
}

function noPlace(): OAuthError {
  return new OAuthError("temporarily_unavailable", "Too many tokens are being refreshed", {
    reason: "refresh_in_progress",
  });
}
