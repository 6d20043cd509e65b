/**
 * What the steps of a refresh share: the caller, the lease, the reported events. refresh.ts puts
 * them together.
 */
import { type Clock, OAuthError, type Secret, type Timer } from "@oauth-broker/oauth-core";
import type { RefreshTimes } from "./times.ts";
import type { CurrentRecord, Lease, TokenRecords } from "../tokens/token-records.ts";
import type { StoredTokens, TokenKey, TokenSet } from "../tokens/tokens.ts";

/** Tokens that have a refresh token. */
export type RefreshableTokens = TokenSet & { readonly refreshToken: Secret };

/**
 * Asks the vendor, once. Throws what vendor-client's refreshTokens throws: `invalid_grant` when the
 * vendor refused the refresh token, `retry: "restart"` when the response to a rotating one was
 * lost.
 *
 * @param attempt.signal must be heeded: the lease ends
 * @returns the response; members it leaves out (refresh token, ID token, scope, vendorData) are
 *   carried over
 */
export type Refresh = (
  current: RefreshableTokens,
  attempt: { readonly attemptId: string; readonly signal: AbortSignal },
) => Promise<TokenSet>;

/**
 * Revokes tokens at the vendor that will never be stored, because the user's grant was revoked here
 * in the meantime.
 */
export type Discard = (tokens: TokenSet) => void | Promise<void>;

/** One call of withRefreshLease. */
export interface RefreshCall {
  readonly key: TokenKey;
  readonly refresh: Refresh;
  readonly discard?: Discard | undefined;
  /** The version whose access token the vendor refused. */
  readonly refused?: number | undefined;
}

/** A lease that this process holds. */
export interface Attempt {
  /** The row with our lease in it. */
  readonly over: CurrentRecord;
  readonly lease: Lease;
  /** The row carried an expired lease: an earlier attempt died or lost its response. */
  readonly afterCrash: boolean;
}

/**
 * The result of an attempt: the new tokens. `fenced`: another process wrote the row in the meantime;
 * read it again. `gone`: revoked or removed.
 */
export type Outcome = StoredTokens | "fenced" | "gone";

export type RefreshEvent = { readonly vendor: string } & (
  | { readonly name: "refreshed"; readonly attemptId: string; readonly version: number }
  /** `spent`: the vendor may have rotated the refresh token, and its response is lost. */
  | { readonly name: "refresh_failed"; readonly attemptId: string; readonly code: string; readonly spent: boolean }
  /** A response of the vendor was dropped: the row had moved on. */
  | { readonly name: "refresh_fenced"; readonly attemptId: string }
  /**
   * A response could not be stored in time; attempts continue, and it survives this process if
   * it is journaled.
   */
  | { readonly name: "refresh_orphaned"; readonly attemptId: string; readonly journaled: boolean }
  | { readonly name: "orphan_settled"; readonly attemptId: string; readonly result: "written" | "superseded" }
  /** The user must authorize again. `refresh_lost`: through our own fault. */
  | { readonly name: "reauthorize"; readonly reason: ReauthorizeReason }
  | { readonly name: "discard_failed" }
  /** Clocks are further apart than the lease allows for. */
  | { readonly name: "clock_skew" }
  /** Records that are due and were not refreshed at their last attempt; 0: none is left. */
  | { readonly name: "refresh_backlog"; readonly count: number }
);
export type ReauthorizeReason = "refused" | "refresh_lost" | "no_refresh_token";

export interface RefreshContext {
  readonly records: TokenRecords;
  readonly now: Clock;
  readonly timer: Timer;
  readonly times: RefreshTimes;
  readonly onEvent: (event: RefreshEvent) => void;
}

/** @returns undefined when there is nothing left to refresh: no record, or a revoked one */
export function activeRecord(current: CurrentRecord | undefined): CurrentRecord | undefined {
  return current?.stored.status === "revoked" ? undefined : current;
}

export function reauthorizationRequired(): OAuthError {
  return new OAuthError("invalid_grant", "The user must authorize again", { reason: "reauthorization_required" });
}
