/**
 * Limits the refreshes at one vendor at a time in this process: ten thousand tokens that expire
 * together must not become ten thousand requests, nor contend for ten thousand rows. Each vendor
 * has its own places, so that one that hangs delays no users of another. Records whose refresh did
 * not get through are counted, so that the operator sees the queue.
 */
import { type Clock, createTurns, OAuthError } from "@oauth-broker/oauth-core";
import type { RefreshEvent } from "./context.ts";
import type { RowKey } from "../storage/token-rows.ts";
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

/**
 * The records that are due at a vendor and could not be refreshed at their last attempt: no place,
 * a vendor that allows no more calls now, an outage. Their users come back, or not: a record whose
 * user does not is forgotten.
 */
export interface Backlog {
  /** An attempt to refresh the record failed, and a later one may succeed. */
  add(vendor: string, row: RowKey): void;
  /** The record needs no refresh any more. */
  remove(vendor: string, row: RowKey): void;
}

/** Fewer are no queue: each has a `refresh_failed` of its own. */
const REPORTED_FROM = 10;
/** At most so often for a vendor. */
const REPORT_SECONDS = 10;
const FORGET_SECONDS = 60;
/** Of one vendor; any more are not counted. */
const MOST_COUNTED = 100_000;

interface Waiting {
  /** Seconds after which a record is forgotten. */
  readonly until: Map<string, number>;
  /** 0: not yet. */
  reportedAt: number;
}

/** @param deps.onEvent gets `refresh_backlog` while there is a queue, and once with 0 at its end */
export function createBacklog({
  now,
  onEvent,
}: {
  readonly now: Clock;
  readonly onEvent: (event: RefreshEvent) => void;
}): Backlog {
  const vendors = new Map<string, Waiting>();

  const report = (vendor: string, waiting: Waiting): void => {
    const { until, reportedAt } = waiting;
    if (until.size < REPORTED_FROM || Math.abs(now() - reportedAt) < REPORT_SECONDS) return;
    for (const [id, end] of until) if (end <= now()) until.delete(id);
    if (until.size < REPORTED_FROM) return;
    waiting.reportedAt = now();
    onEvent({ name: "refresh_backlog", vendor, count: until.size });
  };

  return {
    add: (vendor, row) => {
      const waiting = vendors.get(vendor) ?? { until: new Map<string, number>(), reportedAt: 0 };
      vendors.set(vendor, waiting);
      const id = JSON.stringify([row.pk, row.sk]);
      if (waiting.until.size < MOST_COUNTED || waiting.until.has(id)) waiting.until.set(id, now() + FORGET_SECONDS);
      report(vendor, waiting);
    },
    remove: (vendor, row) => {
      const waiting = vendors.get(vendor);
      if (waiting === undefined) return;
      waiting.until.delete(JSON.stringify([row.pk, row.sk]));
      if (waiting.until.size > 0) return;
      vendors.delete(vendor);
      if (waiting.reportedAt > 0) onEvent({ name: "refresh_backlog", vendor, count: 0 });
    },
  };
}
