/**
 * The events that have not arrived yet, kept in the record store: a record for each link with the
 * last thing that became of it, and for each vendor an index of the links whose event waits. Any
 * process claims what is due by one conditional write, which also sets the time of the next try. So
 * a process that dies costs a delay, and several processes send an event once.
 */
import { createHash, randomInt } from "node:crypto";
import {
  type Clock,
  defined,
  type EpochSeconds,
  type JsonObject,
  type RecordKey,
  type RecordStore,
} from "@oauth-broker/oauth-core";
import { changeRecord } from "../change-record.ts";

/** What became of a link. */
export type LinkChange = {
  /** The stable reference of the user, never an e-mail address. */
  readonly user: string;
  readonly vendor: string;
} & (
  | {
      readonly type: "link.dead";
      readonly reason: string;
      /** Another text for every authorization: a link dies once for each. */
      readonly grant: string;
    }
  | { readonly type: "link.restored" }
);

/** An event, as the receiver gets it. */
export interface LinkEvent {
  /** The same each time it is sent. */
  readonly id: string;
  readonly type: LinkChange["type"];
  readonly at: EpochSeconds;
  readonly user: string;
  readonly vendor: string;
  readonly reason?: string;
}

/** Bounds of the outbox; tests pass smaller ones. */
export interface OutboxLimits {
  /** Events that wait, of one vendor: one more drops the oldest. */
  readonly waiting: number;
  /** An event that has not arrived by then is dropped. */
  readonly keptSeconds: number;
}

export const OUTBOX_LIMITS: OutboxLimits = { waiting: 1_000, keptSeconds: 72 * 3600 };

export interface OutboxDeps {
  readonly records: RecordStore;
  readonly now: Clock;
  /** Called for events that are dropped. */
  readonly onDropped: (vendor: string, reason: "too_many" | "too_old", count: number) => void;
}

interface Waiting {
  readonly link: string;
  readonly event: string;
  readonly at: EpochSeconds;
  readonly due: EpochSeconds;
  readonly tries: number;
}

/** How long it is known that a link was reported dead. */
const REPORTED_SECONDS = 90 * 86_400;
const FIRST_WAIT_SECONDS = 30;
const LONGEST_WAIT_SECONDS = 3600;
const ROUNDS = 50;

/** All methods throw OAuthError temporarily_unavailable. @param limits tests pass smaller ones */
export function createOutbox({ records, now, onDropped }: OutboxDeps, limits: OutboxLimits = OUTBOX_LIMITS) {
  const shared = { records, rounds: ROUNDS, busy: "The event cannot be kept now" };
  const changeWaiting = async (
    vendor: string,
    decide: (waiting: readonly Waiting[]) => readonly Waiting[] | undefined,
  ): Promise<void> =>
    changeRecord(indexKey(vendor), {
      ...shared,
      decide: (data) => {
        const waiting = decide((data?.["waiting"] ?? []) as unknown as readonly Waiting[]);
        if (waiting === undefined) return { result: undefined };
        const next = { v: 1, waiting } as unknown as JsonObject;
        return { next: { data: next, expiresAt: now() + limits.keptSeconds }, result: undefined };
      },
    });

  return {
    /** Keeps an event, unless the same was kept before, or a link is back that was never reported dead. */
    keep: async (change: LinkChange): Promise<void> => {
      const { user, vendor, type } = change;
      const link = hashOf([vendor, user]);
      const key: RecordKey = { kind: "link-event", id: link };
      const id = idOver(change, (await records.get(key))?.data);
      if (id === undefined) return;
      const at = now();
      let dropped = 0;
      // The index first: an event that it does not name would wait for ever. Two processes that
      // notice the same make the same id.
      await changeWaiting(vendor, (listed) => {
        const others = listed.filter((other) => other.link !== link);
        dropped = Math.max(0, others.length + 1 - limits.waiting);
        return [...others.slice(dropped), { link, event: id, at, due: at, tries: 0 }];
      });
      if (dropped > 0) onDropped(vendor, "too_many", dropped);
      const reason = change.type === "link.dead" ? { reason: change.reason } : {};
      const seconds = type === "link.dead" ? REPORTED_SECONDS : limits.keptSeconds;
      await changeRecord(key, {
        ...shared,
        decide: (data) => {
          if (idOver(change, data) !== id) return { result: undefined };
          const grant = change.type === "link.dead" ? change.grant : (data?.["grant"] ?? "");
          const next = { v: 1, event: id, type, grant, at, user, vendor, ...reason };
          return { next: { data: next, expiresAt: at + seconds }, result: undefined };
        },
      });
    },

    /** @returns events that are due, at most so many; the next try of each is already set */
    claim: async (vendor: string, most: number): Promise<readonly LinkEvent[]> => {
      const isDue = ({ due }: Waiting): boolean => due <= now();
      let claimed: readonly Waiting[] = [];
      let dropped = 0;
      await changeWaiting(vendor, (listed) => {
        [claimed, dropped] = [[], 0];
        if (!listed.some(isDue)) return undefined;
        const young = listed.filter(({ at }) => at + limits.keptSeconds > now());
        dropped = listed.length - young.length;
        claimed = young.filter(isDue).slice(0, most);
        return young.map((one) => (claimed.includes(one) ? nextTry(one, now()) : one));
      });
      if (dropped > 0) onDropped(vendor, "too_old", dropped);
      const events = await Promise.all(claimed.map(async ({ link, event }) => readEvent(link, event, records)));
      return events.filter((event) => event !== undefined);
    },

    /** They have arrived. */
    settle: async (vendor: string, arrived: readonly LinkEvent[]): Promise<void> => {
      const ids = new Set(arrived.map(({ id }) => id));
      if (ids.size > 0) await changeWaiting(vendor, (listed) => listed.filter(({ event }) => !ids.has(event)));
    },
  };
}

/** @returns the id of the event that the change makes over what was reported; undefined: none */
function idOver(change: LinkChange, reported: JsonObject | undefined): string | undefined {
  const { user, vendor, type } = change;
  const before = reported?.["event"];
  if (type === "link.restored") {
    return typeof before === "string" && reported?.["type"] === "link.dead" ? hashOf([type, before]) : undefined;
  }
  // Reported, and perhaps restored since: what was noted before that comes too late.
  return reported?.["grant"] === change.grant ? undefined : hashOf([type, vendor, user, change.grant]);
}

/** The waits grow from half a minute to an hour; a claim is longer than a try. */
function nextTry(one: Waiting, now: EpochSeconds): Waiting {
  const wait = Math.min(FIRST_WAIT_SECONDS * 2 ** Math.min(one.tries, 20), LONGEST_WAIT_SECONDS);
  return { ...one, due: now + wait + randomInt(0, Math.ceil(wait / 2)), tries: one.tries + 1 };
}

/** @returns undefined while the process that keeps it has not written it, and if another replaced it */
async function readEvent(link: string, event: string, records: RecordStore): Promise<LinkEvent | undefined> {
  const data = (await records.get({ kind: "link-event", id: link }))?.data;
  if (data?.["event"] !== event) return undefined;
  const { type, at, user, vendor, reason } = data as unknown as LinkEvent;
  return { id: event, type, at, user, vendor, ...defined({ reason }) };
}

function indexKey(vendor: string): RecordKey {
  return { kind: "link-events", id: vendor };
}

function hashOf(parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64url");
}
