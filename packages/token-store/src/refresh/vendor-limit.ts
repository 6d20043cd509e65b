/**
 * Limits the refreshes at one vendor at a time in this process: ten thousand tokens that expire
 * together must not become ten thousand requests, nor contend for ten thousand rows. Each vendor
 * has its own places, so that one that hangs delays no users of another. Records whose refresh did
 * not get through are counted, so that the operator sees the queue.
 */
import { createTurns, OAuthError, type Timer } from "@oauth-broker/oauth-core";
import type { RefreshContext } from "./context.ts";
import { rowId, type RowKey } from "../storage/token-rows.ts";

export type VendorLimit = ReturnType<typeof createVendorLimit>;

/**
 * While a vendor has a queue and refuses, one refresh at a time, four a second, finds out when it
 * takes more: each one costs a row two writes and the vendor a request, and thousands of users come
 * back every second. Without a queue a refusal may be one user's own, and holds up no other.
 */
const PAUSE_MS = 250;

/**
 * @param most places for each vendor
 * @param deps.backlog says which vendors have a queue
 */
//= bar#8.2
export function createVendorLimit(
  most: number,
  { timer, backlog }: { readonly timer: Timer; readonly backlog: Pick<Backlog, "isQueue"> },
) {
  // By vendor, from its refusal until it takes a refresh again.
  const closedUntil = new Map<string, number>();
  const requireOpen = (vendor: string): void => {
    if (timer.elapsedMs() < (closedUntil.get(vendor) ?? 0)) throw noPlace();
  };
  const turns = createTurns({
    mostOfLane: (vendor) => (closedUntil.has(vendor) ? 1 : most),
    refusal: noPlace,
    timer,
  });
  return {
    /**
     * Runs the work when there is a place.
     *
     * @param waitMs how long to wait for a place; 0 does not wait
     * @throws OAuthError temporarily_unavailable when there was none in time, or the vendor takes no
     *   more at the moment
     */
    run: async <T>(vendor: string, waitMs: number, work: () => Promise<T>): Promise<T> => {
      requireOpen(vendor);
      return turns.run(vendor, { timeoutMs: waitMs }, async () => {
        requireOpen(vendor);
        try {
          const result = await work();
          closedUntil.delete(vendor);
          return result;
        } catch (error) {
          if (!backlog.isQueue(vendor)) closedUntil.delete(vendor);
          else if (isVendorOutage(error)) closedUntil.set(vendor, timer.elapsedMs() + PAUSE_MS);
          throw error;
        }
      });
    },
  };
}

function isVendorOutage(error: unknown): boolean {
  return error instanceof OAuthError && error.extras.reason === "vendor_unavailable";
}

function noPlace(): OAuthError {
  return new OAuthError("temporarily_unavailable", "Too many tokens are being refreshed", {
    reason: "refresh_in_progress",
  });
}

/**
 * The records that are due at a vendor and could not be refreshed at their last attempt: no place,
 * a vendor that allows no more calls now, an outage. Their users come back, or not: a record whose
 * user does not is forgotten.
 */
export type Backlog = ReturnType<typeof createBacklog>;

/** Fewer records are not a queue: each has its own `refresh_failed`. */
const QUEUE_FROM = 10;
/** At most so often for a vendor. */
const REPORT_SECONDS = 10;
const FORGET_SECONDS = 60;
/** The limit for one vendor; any more are not counted. */
const MOST_COUNTED = 100_000;

interface Waiting {
  /** Seconds after which a record is forgotten. */
  readonly until: Map<string, number>;
  /** 0: not yet. */
  reportedAt: number;
}

/** @param deps.onEvent gets `refresh_backlog` while there is a queue, and once with 0 at its end */
export function createBacklog({ now, onEvent }: Pick<RefreshContext, "now" | "onEvent">) {
  const vendors = new Map<string, Waiting>();

  const report = (vendor: string, waiting: Waiting): void => {
    const { until, reportedAt } = waiting;
    if (until.size < QUEUE_FROM || Math.abs(now() - reportedAt) < REPORT_SECONDS) return;
    for (const [id, end] of until) if (end <= now()) until.delete(id);
    if (until.size < QUEUE_FROM) return;
    waiting.reportedAt = now();
    onEvent({ name: "refresh_backlog", vendor, count: until.size });
  };

  return {
    /** An attempt to refresh the record failed, and a later one may succeed. */
    add: (vendor: string, row: RowKey): void => {
      const waiting = vendors.get(vendor) ?? { until: new Map<string, number>(), reportedAt: 0 };
      vendors.set(vendor, waiting);
      const id = rowId(row);
      if (waiting.until.size < MOST_COUNTED || waiting.until.has(id)) waiting.until.set(id, now() + FORGET_SECONDS);
      report(vendor, waiting);
    },
    /** Whether so many records wait that it is the vendor, and not their users. */
    isQueue: (vendor: string): boolean => (vendors.get(vendor)?.until.size ?? 0) >= QUEUE_FROM,
    /** The record needs no refresh any more. */
    remove: (vendor: string, row: RowKey): void => {
      const waiting = vendors.get(vendor);
      if (waiting === undefined) return;
      waiting.until.delete(rowId(row));
      if (waiting.until.size > 0) return;
      vendors.delete(vendor);
      if (waiting.reportedAt > 0) onEvent({ name: "refresh_backlog", vendor, count: 0 });
    },
  };
}
