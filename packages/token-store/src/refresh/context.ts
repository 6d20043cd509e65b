/** What the steps of a refresh share: who asks, under which lease, what they report. refresh.ts puts it together. */
import { type Clock, OAuthError, type Secret } from "@oauth-broker/oauth-core";
import type { RefreshTimes, Timer } from "./times.ts";
import type { CurrentRecord, Lease, TokenRecords } from "../tokens/token-records.ts";
import type { StoredTokens, TokenKey, TokenSet } from "../tokens/tokens.ts";

/** Tokens that have a refresh token. */
export type RefreshableTokens = TokenSet & { readonly refreshToken: Secret };

/**
 * Asks the vendor, once. Throws what vendor-client's refreshTokens throws: `invalid_grant` when the vendor refused the
 * refresh token, `retry: "restart"` when the answer to a rotating one was lost.
 *
 * @param attempt.signal must be heeded: the lease does not last for ever
 * @returns the answer; what it leaves out (refresh token, ID token, scope, vendorData) goes on as it was
 */
export type Refresh = (
  current: RefreshableTokens,
  attempt: { readonly attemptId: string; readonly signal: AbortSignal },
) => Promise<TokenSet>;

/** Tells the vendor about tokens that will never be stored, because the user's grant was revoked here meanwhile. */
export type Discard = (tokens: TokenSet) => void | Promise<void>;

/** One call of withRefreshLease. */
export interface RefreshCall {
  readonly key: TokenKey;
  readonly refresh: Refresh;
  readonly discard?: Discard | undefined;
  /** The version whose access token the vendor refused. */
  readonly refused?: number | undefined;
}

/** A lease that is ours. */
export interface Attempt {
  /** As the row stands with our lease in it. */
  readonly over: CurrentRecord;
  readonly lease: Lease;
  /** The row carried an expired lease: an attempt before this one died or lost its answer. */
  readonly afterCrash: boolean;
}

/** What became of an attempt. `fenced`: somebody else wrote the row meanwhile; look again. `gone`: revoked or removed. */
export type Outcome =
  | { readonly kind: "stored"; readonly stored: StoredTokens }
  | { readonly kind: "fenced" }
  | { readonly kind: "gone" };

export type RefreshEvent = { readonly vendor: string } & (
  | { readonly name: "refreshed"; readonly attemptId: string; readonly version: number }
  /** `spent`: the vendor may have rotated the refresh token, and its answer is lost. */
  | { readonly name: "refresh_failed"; readonly attemptId: string; readonly code: string; readonly spent: boolean }
  /** An answer of the vendor was dropped: the row had moved on. */
  | { readonly name: "refresh_fenced"; readonly attemptId: string }
  /** An answer could not be stored in time; it is tried on, and survives this process where it is journaled. */
  | { readonly name: "refresh_orphaned"; readonly attemptId: string; readonly journaled: boolean }
  | { readonly name: "orphan_settled"; readonly attemptId: string; readonly result: "written" | "superseded" }
  /** The user must authorize again. `refresh_lost`: by our own fault. */
  | { readonly name: "reauthorize"; readonly reason: ReauthorizeReason }
  | { readonly name: "discard_failed" }
  /** Clocks are further apart than the lease allows for. */
  | { readonly name: "clock_skew" }
);
export type ReauthorizeReason = "refused" | "refresh_lost" | "no_refresh_token";

export interface RefreshContext {
  readonly records: TokenRecords;
  readonly now: Clock;
  readonly timer: Timer;
  readonly times: RefreshTimes;
  readonly onEvent: (event: RefreshEvent) => void;
}

/** @returns undefined where there is nothing left to refresh: no record, or a revoked one */
export function standing(current: CurrentRecord | undefined): CurrentRecord | undefined {
  return current?.stored.status === "revoked" ? undefined : current;
}

/** Something of ours did not answer: worth another try. */
export function isOutage(error: unknown): error is OAuthError {
  return error instanceof OAuthError && error.code === "temporarily_unavailable";
}

export function reauthorizationRequired(): OAuthError {
  return new OAuthError("invalid_grant", "The user must authorize again", { reason: "reauthorization_required" });
}
