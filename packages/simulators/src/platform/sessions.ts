/**
 * The user's own session at the sample platform: where state and PKCE verifier wait, so that only the browser that began
 * can finish, and where the tokens end up. In memory, found by a random cookie.
 */
import { randomBytes, timingSafeEqual } from "node:crypto";
import type { BrokerTokens, PushedRequest } from "./broker-client.ts";
import type { Problem } from "./problem.ts";

/** One line of the page's list of legs: what was done, by whom, and what was checked. */
export interface Leg {
  readonly leg: string;
  /** Epoch seconds. */
  readonly at: number;
  readonly checks: readonly string[];
  /** Why the flow ended here, when it did. */
  readonly reason?: string;
}

export interface Flow {
  /** The broker's name for it; known once the browser is back. */
  readonly flowId?: string;
  /** The platform's own legs; the broker's come from its record. */
  readonly legs: readonly Leg[];
}

export type Notice =
  | { readonly kind: "done"; readonly text: string }
  | { readonly kind: "problem"; readonly problem: Problem };

/** What this session has at one vendor. */
export interface AtVendor {
  /** The last flow that came back, whatever its end. */
  flow?: Flow;
  tokens?: BrokerTokens;
  /** The tokens were revoked here; they are shown so that a newcomer can try what they still open. */
  isRevoked?: boolean;
}

/** A flow that has left for its vendor. */
export interface Pending {
  readonly vendor: string;
  readonly pushed: PushedRequest;
  /** Epoch seconds. */
  readonly at: number;
}

export interface Session {
  readonly csrf: string;
  /** Flows under way in this browser, by state: one per tab. */
  readonly pending: Map<string, Pending>;
  /** By vendor id. */
  readonly vendors: Map<string, AtVendor>;
  /** Id of the vendor that the page is about. */
  shown?: string;
  /** What the last action led to; stays until the next one. */
  notice?: Notice;
}

export interface Sessions {
  find(id: string | undefined): Session | undefined;
  /** @returns the new session's id, for the cookie */
  create(): { readonly id: string; readonly session: Session };
  end(id: string | undefined): void;
}

const CAPACITY = 1000;
const PENDING_CAPACITY = 8;

export function createSessions(): Sessions {
  const sessions = new Map<string, Session>();
  return {
    find: (id) => (id === undefined ? undefined : sessions.get(id)),
    create() {
      const id = randomBytes(32).toString("base64url");
      const session: Session = { csrf: randomBytes(32).toString("base64url"), pending: new Map(), vendors: new Map() };
      sessions.set(id, session);
      dropOldest(sessions, CAPACITY);
      return { id, session };
    },
    end(id) {
      if (id !== undefined) sessions.delete(id);
    },
  };
}

/** @returns the session's own object, to be changed; made when there is none yet */
export function atVendor({ vendors }: Session, id: string): AtVendor {
  const known = vendors.get(id) ?? {};
  vendors.set(id, known);
  return known;
}

export function rememberPushed(session: Session, pending: Pending): void {
  session.pending.set(pending.pushed.state, pending);
  dropOldest(session.pending, PENDING_CAPACITY);
}

/** Single use: a second answer with the same state finds nothing. */
export function takePushed(session: Session | undefined, state: string | null): Pending | undefined {
  if (session === undefined || state === null) return undefined;
  const found = session.pending.get(state);
  session.pending.delete(state);
  return found;
}

export function isOwnForm(session: Session, csrf: unknown): boolean {
  if (typeof csrf !== "string") return false;
  const presented = Buffer.from(csrf);
  const expected = Buffer.from(session.csrf);
  return presented.length === expected.length && timingSafeEqual(presented, expected);
}

function dropOldest(map: Map<string, unknown>, capacity: number): void {
  const oldest = map.size > capacity ? map.keys().next().value : undefined;
  if (oldest !== undefined) map.delete(oldest);
}
