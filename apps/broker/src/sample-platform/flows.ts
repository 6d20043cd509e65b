/**
 * What the platform does with the broker, for one user: start a flow, finish it, refresh, revoke.
 * broker-client has the broker's contract. Here is what an MCP backend has around it, and which
 * checks were passed, for the page.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import {
  type BrokerClient,
  type BrokerClientOptions,
  createBrokerClient,
  type Tokens,
} from "@oauth-broker/broker-client";
import { type Clock, defined, type EpochSeconds, type Fetch } from "@oauth-broker/oauth-core";
import { idTokenSubject } from "@oauth-broker/oauth-core/client";
import { isSameText } from "@oauth-broker/oauth-core/protocol";
import type { PlaceholderOffer, VendorOffer } from "@oauth-broker/simulators";
import { describeProblem } from "./problem.ts";
import {
  type AtVendor,
  atVendor,
  type Leg,
  type Notice,
  type Pending,
  type ReceivedTokens,
  type Session,
} from "./sessions.ts";

type Form = Readonly<Record<string, unknown>>;

export type RevocableToken = "access_token" | "refresh_token";

export interface Flows {
  /** @returns the next URL for the browser. @throws BrokerClientError */
  start(session: Session, offer: VendorOffer, form: Form): Promise<string>;
  /**
   * The browser is back: what is checked, then the code for the tokens. Notes each leg that was
   * reached; what goes wrong becomes the session's notice.
   *
   * @param callback with its query
   */
  finish(session: Session, callback: URL, pending: Pending): Promise<void>;
  /** @throws BrokerClientError */
  refresh(connection: AtVendor, tokens: Tokens): Promise<Notice>;
  /** @throws BrokerClientError */
  revoke(connection: AtVendor, tokens: Tokens, which: RevocableToken): Promise<Notice>;
}

/** What one call of broker-client has sent to the broker, by path. */
type Sent = Set<string>;

export function createFlows(options: BrokerClientOptions & { readonly fetch: Fetch; readonly now: Clock }): Flows {
  const { now } = options;
  const sentBy = new AsyncLocalStorage<Sent>();
  // The client is shared and the page shows one flow, hence the storage.
  const observed: Fetch = (input, init) => {
    sentBy.getStore()?.add(new URL(input).pathname);
    return options.fetch(input, init);
  };
  const broker: BrokerClient = createBrokerClient({ ...options, fetch: observed });

  return {
    start: async (session, offer, form) => {
      const at = now();
      const { url, session: flow } = await broker.start(requestFor(offer, form));
      session.pending.set(flow.state, { vendor: offer.id, session: flow, at }, flow.expiresAt);
      return url;
    },

    finish: async (session, callback, { vendor, session: flow, at }) => {
      const returned = { leg: "returned", at: now(), checks: ["state belongs to this browser's session, used once"] };
      const legs: Leg[] = [{ leg: "asked", at, checks: ASKED }, returned];
      const connection = atVendor(session, vendor);
      connection.flow = { legs, ...defined({ flowId: callback.searchParams.get("flow_id") ?? undefined }) };
      session.shown = vendor;
      delete session.notice;
      const sent: Sent = new Set();
      try {
        connection.tokens = received(await sentBy.run(sent, () => broker.finish(callback, flow)), now());
        connection.isRevoked = false;
        legs.push({ leg: "received", at: now(), checks: receivedChecks(connection.tokens) });
      } catch (error) {
        session.notice = { kind: "problem", problem: describeProblem(error) };
      }
      // The client sends the code to no one before it has seen that the callback is the broker's.
      if (sent.has(TOKEN_PATH)) returned.checks.push("iss is the broker");
    },

    refresh: async (connection, { refreshToken, connection: named }) => {
      const refreshed = await broker.refresh({ refreshToken, connection: named });
      if (refreshed.outcome !== "ok") return { kind: "problem", problem: describeProblem(refreshed.error) };
      connection.tokens = received(refreshed.tokens, now());
      const isSame = isSameText(refreshed.tokens.refreshToken, refreshToken ?? "");
      const rotated = isSame ? "" : ", and the vendor rotated the refresh token";
      return { kind: "done", text: `Refreshed: a new access token arrived${rotated}.` };
    },

    revoke: async (connection, tokens, which) => {
      const token = which === "access_token" ? tokens.accessToken : (tokens.refreshToken ?? "");
      const answer = await broker.revoke({ token, tokenTypeHint: which, connection: tokens.connection });
      if (answer.outcome === "unsupported") return { kind: "problem", problem: describeProblem(answer.error) };
      connection.isRevoked = true;
      return { kind: "done", text: revokedText(which, answer.revoked) };
    },
  };
}

const TOKEN_PATH = "/v1/token";

const ASKED = [
  "state and PKCE verifier wait in this browser's own session",
  "request pushed by the backend, not carried by the browser",
];

function receivedChecks({ user }: ReceivedTokens): readonly string[] {
  return [
    "code redeemed with the PKCE verifier of this session",
    "the answer is a well-formed token response",
    // The broker hands an ID token on only after that.
    ...(user === undefined ? [] : ["ID token verified by the broker: signature, issuer, audience, nonce"]),
  ];
}

function received(tokens: Tokens, receivedAt: EpochSeconds): ReceivedTokens {
  const { vendorIdToken } = tokens;
  const user = vendorIdToken === undefined ? undefined : idTokenSubject(vendorIdToken, { issuerSpelling: "exact" });
  return { ...tokens, receivedAt, ...defined({ user }) };
}

function revokedText(which: RevocableToken, revoked: "token" | "grant" | "already"): string {
  const next =
    which === "refresh_token" || revoked === "grant"
      ? "Try Refresh now: the vendor will refuse it."
      : "At some vendors the refresh token lives on: try Refresh now.";
  return `Revoked at the vendor (${revoked}). ${next}`;
}

/** Names of the form's inputs: a placeholder must not be taken for `vendor` or `csrf`. */
export function inputName({ name }: PlaceholderOffer): string {
  return `placeholder.${name}`;
}

/** An input that was left empty keeps the value that works. */
function requestFor({ id, request, placeholders = [] }: VendorOffer, form: Form): Parameters<BrokerClient["start"]>[0] {
  const values = placeholders.map((placeholder): [string, string] => {
    const typed = form[inputName(placeholder)];
    return [placeholder.name, typeof typed === "string" && typed.trim() !== "" ? typed.trim() : placeholder.value];
  });
  return { vendor: id, ...request, ...(values.length === 0 ? {} : { placeholders: Object.fromEntries(values) }) };
}
