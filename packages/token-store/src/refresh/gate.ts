/**
 * At most so many refreshes at one vendor at once in this process: ten thousand tokens that expire together must not become
 * ten thousand requests, nor ten thousand rows contended for. Each vendor has its own places, so that one that hangs
 * holds up nobody else's users.
 */
import { createTurns, OAuthError } from "@oauth-broker/oauth-core";
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

/** @param most places for each vendor */
//= bar#8.2
export function createGate(most: number, { timer }: { readonly timer: Timer }): Gate {
  const turns = createTurns({ mostOfLane: () => most, refusal: noPlace, elapsedMs: timer.elapsedMs });
  return { run: (vendor, patienceMs, work) => turns.run(vendor, { timeoutMs: patienceMs }, work) };
}

function noPlace(): OAuthError {
  return new OAuthError("temporarily_unavailable", "Too many tokens are being refreshed", {
    reason: "refresh_in_progress",
  });
}
