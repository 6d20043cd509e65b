/**
 * How much of the store one client's replayed answers may take: a vendor decides how long its
 * answer is, and a client may name the vendor. An answer that is not kept goes to the caller all
 * the same (single-flight.ts).
 */
import { type Clock, createExpiringMap, type EpochSeconds } from "@oauth-broker/oauth-core";

/** As long as an answer is replayed. */
const PERIOD_SECONDS = 60;
/** An ordinary answer with an ID token has two to six KB. */
export const MOST_ANSWER_BYTES = 8 * 1024;
/** The limit for one client in a period and a process; at most twice that is in the store at a time. */
export const MOST_CLIENT_BYTES = 16 * 1024 * 1024;
/** Clients come from the configuration. */
const MOST_CLIENTS = 50_000;

export type ReplayShare = ReturnType<typeof createReplayShare>;

export function createReplayShare(now: Clock) {
  const periods = createExpiringMap<{ readonly endsAt: EpochSeconds; readonly bytes: number }>(MOST_CLIENTS, now);
  return {
    /**
     * Counts an answer for its client.
     *
     * @returns false when it is too long, or the client's share is used up: then it is not kept
     */
    take(clientId: string, bytes: number): boolean {
      const { endsAt, bytes: before } = periods.get(clientId) ?? { endsAt: now() + PERIOD_SECONDS, bytes: 0 };
      const after = before + bytes;
      if (bytes > MOST_ANSWER_BYTES || after > MOST_CLIENT_BYTES) return false;
      periods.set(clientId, { endsAt, bytes: after }, endsAt);
      return true;
    },
  };
}
