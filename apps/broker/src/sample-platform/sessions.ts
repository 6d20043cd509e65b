/**
 * What waits for one user: the flows this browser has under way, and the tokens they ended with. In
 * memory, found by a random cookie, so that only the browser that began a flow can finish it.
 */
import type { Session as FlowSession, Tokens } from "@oauth-broker/broker-client";
import { type Clock, createExpiringMap, type EpochSeconds, type ExpiringMap } from "@oauth-broker/oauth-core";
import { type BindingCookie, createBindingCookie, formatCookie, readCookie } from "@oauth-broker/oauth-core/server";
import type { Problem } from "./problem.ts";

/** One line of the page's list of legs: what was done, by whom, and what was checked. */
export interface Leg {
  readonly leg: string;
  readonly at: EpochSeconds;
  readonly checks: readonly string[];
  /** Why the flow ended here, when it did. */
  readonly reason?: string;
}

interface Flow {
  /** The broker's name for it; known once the browser is back. */
  readonly flowId?: string;
  /** The platform's own legs; the broker's come from its record. */
  readonly legs: readonly Leg[];
}

export interface ReceivedTokens extends Tokens {
  readonly receivedAt: EpochSeconds;
  /** As the ID token says it. */
  readonly user?: { readonly issuer: string; readonly subject: string };
}

export type Notice =
  | { readonly kind: "done"; readonly text: string }
  | { readonly kind: "problem"; readonly problem: Problem };

/** What this session has at one vendor. */
export interface AtVendor {
  /** The last flow that came back, regardless of its end. */
  flow?: Flow;
  tokens?: ReceivedTokens;
  /** The tokens were revoked here; they stay, so that a newcomer can try what they still open. */
  isRevoked?: boolean;
}

/** A flow that has left for its vendor. */
export interface Pending {
  readonly vendor: string;
  readonly session: FlowSession;
  readonly at: EpochSeconds;
}

export interface Session {
  /** Also what the tokens of forms are made of. */
  readonly cookie: BindingCookie;
  /** Flows under way in this browser, by state: one per tab. */
  readonly pending: ExpiringMap<Pending>;
  /** By vendor id. */
  readonly vendors: Map<string, AtVendor>;
  /** Id of the vendor that the page is about. */
  shown?: string;
  /** What the last action led to; stays until the next one. */
  notice?: Notice;
}

export interface Sessions {
  /** @param header the Cookie header as received */
  find(header: string | undefined): Session | undefined;
  create(): { readonly session: Session; readonly setCookie: string };
  end(session: Session): { readonly setCookie: string };
}

const CAPACITY = 1000;
const PENDING_CAPACITY = 8;
const SESSION_SECONDS = 12 * 3600;

export function createSessions(cookieName: string, now: Clock): Sessions {
  const sessions = createExpiringMap<Session>(CAPACITY, now);
  return {
    find: (header) => {
      const cookie = readCookie(header, cookieName);
      return cookie && sessions.get(cookie.hash);
    },
    create: () => {
      const cookie = createBindingCookie();
      const pending = createExpiringMap<Pending>(PENDING_CAPACITY, now);
      const session: Session = { cookie, pending, vendors: new Map() };
      sessions.set(cookie.hash, session, now() + SESSION_SECONDS);
      return { session, setCookie: formatCookie(cookieName, cookie.value, SESSION_SECONDS) };
    },
    end: ({ cookie }) => {
      sessions.delete(cookie.hash);
      return { setCookie: formatCookie(cookieName, "", 0) };
    },
  };
}

/** @returns the session's own object, to be changed; made at the first call */
export function atVendor({ vendors }: Session, id: string): AtVendor {
  const known = vendors.get(id) ?? {};
  vendors.set(id, known);
  return known;
}

/** Single use: a second answer with the same state finds nothing. */
//= rfc9700#4.7.1
export function takePending({ pending }: Session, state: string): Pending | undefined {
  const found = pending.get(state);
  pending.delete(state);
  return found;
}
