/**
 * What the user's own session holds while the browser is at the vendor, and the check that the
 * callback belongs to it. The verifier in it binds the tokens to this user: a flow that another
 * user started cannot be finished here, and a flow started here cannot be finished in another
 * user's browser (bar XA-7).
 */
import type { Clock, EpochSeconds } from "./ports.ts";
import { BrokerClientError } from "./error.ts";

/**
 * A plain JSON object. Store it in the *server-side or encrypted session of the user who started*,
 * bound to that user's browser: never in a global table found by `state`, a URL, or a cookie that
 * scripts can read. For several tabs at once keep one per `state`, and take out the one that the
 * callback's `state` names.
 */
export interface Session {
  readonly v: 1;
  /** The other side: the broker's issuer, or a hash over the vendor and our client there. */
  readonly context: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly state: string;
  /** PKCE. Absent only with `direct` at a vendor without it. */
  readonly codeVerifier?: string;
  /** `direct` only. */
  readonly nonce?: string;
  readonly scope?: string;
  readonly resource?: string;
  /** The vendor's response must name it, even if its metadata has changed. */
  readonly issExpected?: boolean;
  readonly expiresAt: EpochSeconds;
}

/** 300 s to redirect, 600 s at the vendor, 60 s to redeem: the broker's own lifetimes. */
export const SESSION_SECONDS = 960;

/** The client a session must belong to. */
export type SessionOwner = Pick<Session, "clientId" | "redirectUri">;

/**
 * Before any user starts: a setting that is missing would else be found in a user's browser.
 *
 * @throws Error for an empty or missing client id, and for a redirect URI that is not an absolute
 *   URL without a fragment (RFC 6749 §3.1.2)
 */
export function requireOwner({ clientId, redirectUri }: SessionOwner): void {
  if (!isText(clientId)) throw new Error("clientId is missing");
  //= rfc6749#3.1.2
  if (!URL.canParse(redirectUri) || redirectUri.includes("#"))
    throw new Error("redirectUri must be an absolute URL without a fragment, as it is registered");
}

/** @throws BrokerClientError invalid_session */
export function requireSession(session: unknown, owner: SessionOwner, now: Clock): Session {
  if (session === undefined || session === null) {
    throw refused("missing", "This user has started nothing that the callback could finish");
  }
  if (!isSession(session)) throw refused("malformed", "The session is not one that start() gave");
  if (session.clientId !== owner.clientId || session.redirectUri !== owner.redirectUri) {
    throw refused("other_client", "The session was started with another client");
  }
  if (session.expiresAt <= now()) throw refused("expired", "The user took too long: start again");
  return session;
}

/**
 * @throws BrokerClientError invalid_session, for a flow that was started with another vendor or
 *   broker
 */
export function requireContext(session: Session, context: string): void {
  if (session.context === context) return;
  throw refused("other_client", "The session was started with another broker or vendor");
}

/**
 * @param state as received with the callback
 * @throws BrokerClientError invalid_session, for the response to another user's flow
 */
//= rfc9700#4.7.1
//= bar#XA-7
export function requireState(session: Session, state: string | undefined): void {
  if (state === session.state) return;
  throw refused("state_mismatch", "The callback answers a flow that was not started in this session");
}

function isSession(value: unknown): value is Session {
  if (typeof value !== "object" || value === null) return false;
  const session = value as Readonly<Record<string, unknown>>;
  const needed = ["context", "clientId", "redirectUri", "state"].every((name) => isText(session[name]));
  const optional = ["codeVerifier", "nonce", "scope", "resource"].every(
    (name) => session[name] === undefined || isText(session[name]),
  );
  return session["v"] === 1 && needed && optional && typeof session["expiresAt"] === "number";
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

export function refused(reason: string, description: string): BrokerClientError {
  return new BrokerClientError("invalid_session", description, { reason });
}
