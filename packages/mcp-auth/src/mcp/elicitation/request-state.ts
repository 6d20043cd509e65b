/**
 * What a client of 2026-07-28 sends back with the retry of a call that asked its user to link an
 * account: the tickets that were asked. Sealed under the server key and bound to the call, so that
 * it is nothing in another one. It permits nothing: every check of a call is made again.
 */
import type { EpochSeconds, JsonValue } from "@oauth-broker/oauth-core";
import { hashOf } from "@oauth-broker/oauth-core/authorization-server";
import { canonicalJson, open, seal } from "@oauth-broker/token-store";
import type { Caller } from "../../mode.ts";
import type { ElicitationDeps } from "./deps.ts";

/** A ticket that a call asked its user to decide. */
export interface AskedTicket {
  readonly vendor: string;
  readonly id: string;
  /** Asked for although the link had it all: the vendor refused the call itself. */
  readonly isRepeated: boolean;
}

/** The call that a state belongs to. */
export interface BoundCall extends Pick<Caller, "user" | "clientId"> {
  readonly tool: string;
  /** As sent, unparsed by the tool's schema. */
  readonly arguments: JsonValue | undefined;
}

export interface RequestStates {
  /** @throws OAuthError temporarily_unavailable; RangeError for arguments nested too deeply */
  seal(
    state: { readonly tickets: readonly AskedTicket[]; readonly expiresAt: EpochSeconds },
    call: BoundCall,
  ): Promise<string>;
  /**
   * @returns undefined for a state that is not of this very call, or expired, and for arguments nested
   *   too deeply to have been asked about
   * @throws OAuthError temporarily_unavailable
   */
  open(state: string, call: BoundCall): Promise<readonly AskedTicket[] | undefined>;
}

/** Distinguishes our states from those of an author's own features. */
export const STATE_PREFIX = "vendor-links.";
/** Five tickets fit several times. */
const MOST_CHARACTERS = 8_192;

export function createRequestStates(deps: Pick<ElicitationDeps, "seals" | "now" | "source">): RequestStates {
  const { seals, now, source } = deps;
  return {
    seal: async ({ tickets, expiresAt }, call) => {
      const text = JSON.stringify({ tickets, expiresAt });
      return STATE_PREFIX + seal(await seals.derive("request-state"), text, bindingsOf(call, source));
    },
    open: async (state, call) => {
      if (!state.startsWith(STATE_PREFIX) || state.length > MOST_CHARACTERS) return undefined;
      const key = await seals.derive("request-state");
      const text = tryOpen(() => open(key, state.slice(STATE_PREFIX.length), bindingsOf(call, source)));
      if (text === undefined) return undefined;
      const { tickets, expiresAt } = JSON.parse(text) as Parameters<RequestStates["seal"]>[0];
      return expiresAt > now() ? tickets : undefined;
    },
  };
}

/** One argument in another spelling is the same call; one more argument is another. */
export function bindingsOf(
  { user, clientId, tool, arguments: given }: BoundCall,
  { vendor, issuer }: ElicitationDeps["source"],
): readonly string[] {
  return ["request-state", vendor, issuer, user, clientId ?? "", tool, hashOf(canonicalJson(given ?? {}))];
}

/** @returns undefined for a value that does not open */
export function tryOpen(opened: () => Buffer): string | undefined {
  try {
    return opened().toString("utf8");
  } catch {
    return undefined;
  }
}
