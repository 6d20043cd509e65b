/**
 * Limits the refreshes at one vendor at a time in this process: ten thousand tokens that expire
 * together must not become ten thousand requests, nor contend for ten thousand rows. Each vendor
 * has its own places, so that one that hangs delays no users of another.
 */
import { createTurns, OAuthError } from "@oauth-broker/oauth-core";
import type { Timer } from "./times.ts";

export interface Gate {
  /**
   * Runs the work when there is a place.
   *
   * @param waitMs how long to wait for a place; 0 takes a free one or none
   * @throws OAuthError temporarily_unavailable when there was none in time
   */
  run<T>(vendor: string, waitMs: number, work: () => Promise<T>): Promise<T>;
}

/** @param most places for each vendor */
//= bar#8.2
export function createGate(most: number, { timer }: { readonly timer: Timer }): Gate {
  const turns = createTurns({ mostOfLane: () => most, refusal: noPlace, elapsedMs: timer.elapsedMs });
  return { run: (vendor, waitMs, work) => turns.run(vendor, { timeoutMs: waitMs }, work) };
}

function noPlace(): OAuthError {
  return new OAuthError("temporarily_unavailable", "Too many tokens are being refreshed", {
    reason: "refresh_in_progress",
  });
}
