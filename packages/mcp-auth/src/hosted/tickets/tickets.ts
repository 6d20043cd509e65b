/**
 * Tickets: pages that wait for a user. A tool that needs a link gets one, its client shows the URL,
 * and the user decides on the page. The URL is not a secret that signs anyone in: it says which
 * question is open, and only the browser of its user can answer.
 *
 * A ticket is one record under the hash of the value in its URL. Each user and client have an index
 * of the open ones (at most MAX_OPEN), from which the same question gets the same URL again: the
 * value is an HMAC of a serial in the index, so that the table alone opens nothing.
 */
import { isDeepStrictEqual } from "node:util";
import { type EpochSeconds, OAuthError, type RecordKey } from "@oauth-broker/oauth-core";
import { randomToken } from "@oauth-broker/oauth-core/protocol";
import { hashOf } from "@oauth-broker/oauth-core/authorization-server";
import type { LinkRequest, Ticket, TicketState } from "../../mode.ts";
import { changeRecord } from "@oauth-broker/service";
import { connectUrl } from "../../resource/paths.ts";
import { derivedName, type ServerKey } from "../records/server-key.ts";
import { readSession, type SessionReading } from "../sessions/record.ts";
import { entriesIn } from "../sessions/user-sessions.ts";
import { isSameSource } from "../records/identity-source.ts";

export const TICKET_SECONDS = 600;
/** The limit for one user and client; one more ends the oldest. */
export const MAX_OPEN = 5;
/** The user's time at the vendor, and for the question whether to replace an account. */
const APPROVED_SECONDS = 960;
/** A call that waits still learns what became of its ticket. */
const DECIDED_SECONDS = 600;
const ROUNDS = 50;

/** The user and client that a ticket is of. */
export interface TicketOwner {
  readonly user: string;
  readonly clientId: string;
}

export interface NewTicket extends TicketOwner, LinkRequest {
  readonly sessionId: string;
}

/** A ticket whose user has not decided. */
export interface OpenTicket extends NewTicket {
  /** The hash of the value in the URL; logs hold it. */
  readonly id: string;
}

/** All methods throw OAuthError temporarily_unavailable. */
export interface Tickets {
  ask(ticket: NewTicket): Promise<Ticket>;
  stateOf(id: string, owner: TicketOwner): Promise<TicketState>;
  cancel(id: string, owner: TicketOwner): Promise<void>;
  /**
   * @param value as in the URL, of any form
   * @returns undefined for one that is unknown, expired, decided, or whose session has ended
   */
  find(value: string): Promise<OpenTicket | undefined>;
  /** Whether a ticket that its user approved may still become a link. */
  isApproved(id: string): Promise<boolean>;
  /** @returns false when another request was faster */
  decide(id: string, decision: "approved" | "denied"): Promise<boolean>;
  /** What became of an approved ticket. */
  settle(id: string, outcome: "linked" | "denied" | "ended"): Promise<void>;
}

export interface TicketsDeps extends SessionReading {
  readonly serverKey: ServerKey;
  readonly deploymentUrl: string;
}

type TicketData = Pick<NewTicket, keyof NewTicket> & {
  readonly v: 1;
  /** The source of `user`. */
  readonly signIn: string;
  readonly issuer: string;
};

type Entry = Omit<NewTicket, keyof TicketOwner> & {
  readonly serial: string;
  readonly expiresAt: EpochSeconds;
};

/** The same question is open, or an entry was added, which ends the oldest. */
type Asking = { readonly open: Ticket } | { readonly entry: Entry; readonly tooMany: readonly Entry[] };

const VALUE = /^[A-Za-z0-9_-]{43}$/;

export function createTickets(deps: TicketsDeps): Tickets {
  const { records, now, source } = deps;

  /** A ticket that has not expired, decided or not; `hasSession` says whether its session is live. */
  const read = async (id: string): Promise<(TicketData & { readonly stage: string }) | undefined> => {
    const record = await records.get(ticketKey(id));
    if (record?.data["v"] !== 1) return undefined;
    const ticket = record.data as TicketData;
    if (!isSameSource({ vendor: ticket.signIn, issuer: ticket.issuer }, source)) return undefined;
    return { ...ticket, stage: record.stage };
  };
  const hasSession = async ({ sessionId, user, clientId }: TicketData): Promise<boolean> => {
    const session = await readSession(sessionId, deps);
    return session?.isLive === true && session.user === user && session.clientId === clientId;
  };
  const isOf = (ticket: TicketData, owner: TicketOwner): boolean =>
    ticket.user === owner.user && ticket.clientId === owner.clientId;

  const move = async (id: string, from: string, stage: string): Promise<boolean> => {
    const expiresAt = now() + (stage === "approved" ? APPROVED_SECONDS : DECIDED_SECONDS);
    const { outcome } = await records.advance(
      ticketKey(id),
      { stage: from, expect: {} },
      { stage, set: {}, expiresAt },
    );
    return outcome === "moved";
  };

  /** Creates the record of an entry that has none yet: another process may have died before it. */
  const openTicketOf = async (entry: Entry, owner: TicketOwner): Promise<Ticket | undefined> => {
    const value = await valueOf(entry.serial, deps);
    const id = hashOf(value);
    const { sessionId, vendor, scopes, expiresAt } = entry;
    const { vendor: signIn, issuer } = source;
    const data: TicketData = { v: 1, ...owner, sessionId, vendor, scopes, signIn, issuer };
    if ((await records.create({ key: ticketKey(id), stage: "open", data, expiresAt })) === "exists") {
      if ((await read(id))?.stage !== "open") return undefined;
    }
    if (!(await hasSession(data))) return undefined;
    return { id, url: connectUrl(deps.deploymentUrl, value), expiresAt };
  };

  const stillOpen = async (entries: readonly Entry[]): Promise<readonly Entry[]> => {
    const found = await Promise.all(
      entries.map(async (entry) => (await read(hashOf(await valueOf(entry.serial, deps))))?.stage ?? "open"),
    );
    return entries.filter((_, at) => found[at] === "open");
  };

  return {
    ask: async ({ sessionId, vendor, scopes: asked, user, clientId }) => {
      const owner = { user, clientId };
      const scopes = [...new Set(asked)].toSorted();
      const key = await indexKey(owner, deps);
      const asking = await changeRecord<Asking>(key, {
        records,
        rounds: ROUNDS,
        busy: "The user's tickets are being changed",
        decide: async (data) => {
          const listed = entriesIn(data, "tickets") as readonly Entry[];
          const entries = listed.filter((one) => one.expiresAt > now());
          const same = entries.find((other) => other.vendor === vendor && isDeepStrictEqual(other.scopes, scopes));
          const open = same === undefined ? undefined : await openTicketOf(same, owner);
          if (open !== undefined) return { result: { open } };
          const until = now() + TICKET_SECONDS;
          const entry: Entry = { serial: randomToken(32), sessionId, vendor, scopes, expiresAt: until };
          const others = await stillOpen(entries.filter((other) => other !== same));
          const kept = others.slice(-(MAX_OPEN - 1));
          const tickets = [...kept, entry];
          // The clock of another process may be ahead.
          const expiresAt = Math.max(...tickets.map((ticket) => ticket.expiresAt));
          return {
            next: { data: { v: 1, tickets }, expiresAt },
            result: { entry, tooMany: others.slice(0, others.length - kept.length) },
          };
        },
      });
      if ("open" in asking) return asking.open;
      for (const { serial } of asking.tooMany) await move(hashOf(await valueOf(serial, deps)), "open", "ended");
      const made = await openTicketOf(asking.entry, owner);
      if (made !== undefined) return made;
      throw new OAuthError("temporarily_unavailable", "The session ended while its user was asked");
    },

    stateOf: async (id, owner) => {
      const ticket = await read(id);
      if (ticket === undefined || !isOf(ticket, owner)) return "gone";
      const { stage } = ticket;
      if (stage === "linked" || stage === "denied") return stage;
      if (stage !== "open" && stage !== "approved") return "gone";
      return (await hasSession(ticket)) ? stage : "gone";
    },

    cancel: async (id, owner) => {
      const ticket = await read(id);
      if (ticket === undefined || !isOf(ticket, owner)) return;
      if (!(await move(id, "open", "ended"))) await move(id, "approved", "ended");
    },

    find: async (value) => {
      if (!VALUE.test(value)) return undefined;
      const id = hashOf(value);
      const ticket = await read(id);
      if (ticket?.stage !== "open" || !(await hasSession(ticket))) return undefined;
      const { user, clientId, sessionId, vendor, scopes } = ticket;
      return { id, user, clientId, sessionId, vendor, scopes };
    },

    isApproved: async (id) => {
      const ticket = await read(id);
      return ticket?.stage === "approved" && (await hasSession(ticket));
    },

    decide: (id, decision) => move(id, "open", decision),

    settle: async (id, outcome) => void (await move(id, "approved", outcome)),
  };
}

function ticketKey(id: string): RecordKey {
  return { kind: "ticket", id };
}

/** Unguessable, and the same in every process. */
async function valueOf(serial: string, deps: TicketsDeps): Promise<string> {
  return derivedName("ticket", [deps.deploymentUrl, serial], deps);
}

async function indexKey({ user, clientId }: TicketOwner, deps: TicketsDeps): Promise<RecordKey> {
  const { source, deploymentUrl } = deps;
  const of = [deploymentUrl, source.vendor, source.issuer, user, clientId];
  return { kind: "ticket-index", id: await derivedName("ticket-index", of, deps) };
}
