/**
 * The one request to the vendor in an attempt, with a deadline, and what follows when the vendor
 * does not answer with tokens. A refusal is accepted as true only when no other process has
 * refreshed in the meantime and none of our attempts died half-way; an outage says nothing about
 * the grant. Called by refresh.ts.
 */
import { defined, OAuthError, type Secret } from "@oauth-broker/oauth-core";
import type { CurrentRecord } from "../tokens/token-records.ts";
import type { TokenSet } from "../tokens/tokens.ts";
import { commitAnswer, type CommitDeps } from "./commit.ts";
import {
  type Attempt,
  type Outcome,
  reauthorizationRequired,
  type ReauthorizeReason,
  type RefreshableTokens,
  type RefreshCall,
  type RefreshContext,
  activeRecord,
} from "./context.ts";
import { giveBack, giveBackLater, isStolen, takeLease } from "./record-lease.ts";

/**
 * Time after the signal for `refresh` to report what became of the request: it knows whether
 * anything was sent.
 */
const LAST_WORD_MS = 250;

/**
 * Asks the vendor under this lease, and commits its answer.
 *
 * @param sent the refresh token to send
 * @param isLast a refusal ends the grant: the vendor has refused the row's refresh token before
 * @throws OAuthError invalid_grant, reason `reauthorization_required`; any other error as the
 *   caller should see it
 */
export async function refreshUnder(
  attempt: Attempt,
  sent: Secret,
  call: RefreshCall,
  deps: CommitDeps,
  isLast = false,
): Promise<Outcome> {
  const tokens = { ...attempt.over.stored.tokens, refreshToken: sent };
  const asked = await askVendor(tokens, attempt, call, deps);
  if ("answer" in asked) return commitAnswer(attempt, { sent, answer: asked.answer }, call, deps);
  if (!isRefusal(asked.error)) return afterOutage(asked.error, attempt, call, deps);
  if (!isLast) return afterRefusal(attempt, call, deps);
  return orGiveBackLater(endGrant(attempt.over, "refresh_lost", call, deps), attempt, deps);
}

/**
 * @returns the error that `refresh` throws, if it does; OAuthError temporarily_unavailable, `retry:
 *   "restart"`, when it does not end in time
 */
async function askVendor(
  current: RefreshableTokens,
  attempt: Attempt,
  { refresh }: Pick<RefreshCall, "refresh">,
  { timer, times: { vendorTimeoutMs } }: Pick<RefreshContext, "timer" | "times">,
): Promise<{ readonly answer: TokenSet } | { readonly error: unknown }> {
  const deadline = new AbortController();
  const giveUp = Promise.withResolvers<never>();
  const stopAbort = timer.after(vendorTimeoutMs, () => deadline.abort(tooLate()));
  const stopLeave = timer.after(vendorTimeoutMs + LAST_WORD_MS, () => giveUp.reject(tooLate()));
  try {
    const { attemptId } = attempt.lease;
    const asked = refresh(current, { attemptId, signal: deadline.signal });
    return { answer: await Promise.race([asked, giveUp.promise]) };
  } catch (error) {
    return { error: isAborted(error) ? tooLate(error) : error };
  } finally {
    stopAbort();
    stopLeave();
  }
}

function tooLate(cause?: unknown): OAuthError {
  return new OAuthError("temporarily_unavailable", "The vendor does not respond", {
    reason: "vendor_unavailable",
    retry: "restart",
    ...defined({ cause }),
  });
}

/** What fetch throws for an aborted signal. */
function isAborted(error: unknown): boolean {
  return error instanceof Error && (error.name === "AbortError" || error.name === "TimeoutError");
}

/**
 * Refused: either rightly, or because another process or our crash has used the refresh token
 * up.
 */
async function afterRefusal(attempt: Attempt, call: RefreshCall, deps: CommitDeps): Promise<Outcome> {
  const { records, onEvent } = deps;
  const { over, lease, afterCrash } = attempt;
  //= bar#RF-4
  const current = activeRecord(await orGiveBackLater(records.read(call.key), attempt, deps));
  if (current === undefined) return "gone";
  if (!isStillOurs(current, attempt)) {
    if (isStolen(attempt, current, deps)) onEvent({ name: "clock_skew", vendor: call.key.vendor });
    return "fenced";
  }
  const previous = previousOf(over, deps);
  // An earlier attempt may have died between the vendor's response and its commit.
  //= bar#RF-5
  if (afterCrash && previous !== undefined) {
    // Another attempt, under its own lease, and once.
    const again = await orGiveBackLater(takeLease({ ...current, lease: { ...lease, until: 0 } }, deps), attempt, deps);
    return again === undefined ? "fenced" : refreshUnder(again, previous, call, deps, true);
  }
  return orGiveBackLater(endGrant(current, afterCrash ? "refresh_lost" : "refused", call, deps), attempt, deps);
}

/** If the store lets nothing be decided about a refusal, the next caller decides it. */
async function orGiveBackLater<T>(deciding: Promise<T>, attempt: Attempt, deps: CommitDeps): Promise<T> {
  return deciding.catch((error: unknown) => {
    if (!isRefusal(error)) void giveBackLater(attempt.over.key, attempt, { spent: false }, deps);
    throw error;
  });
}

/** No more automatic attempts: only a new authorization makes the record active again. */
export async function endGrant(
  over: CurrentRecord,
  reason: ReauthorizeReason,
  { key }: Pick<RefreshCall, "key">,
  { records, onEvent }: Pick<RefreshContext, "records" | "onEvent">,
): Promise<Outcome> {
  const ended = await records.note(over, { status: "reauthorize", lease: null });
  if (ended === undefined) return "fenced";
  // Only the process whose write succeeded reports it, hence once.
  onEvent({ name: "reauthorize", vendor: key.vendor, reason });
  throw reauthorizationRequired();
}

/** Says nothing about the grant: the record stays active, and the next caller tries again. */
//= bar#RF-9
async function afterOutage(
  error: unknown,
  attempt: Attempt,
  { key }: RefreshCall,
  deps: RefreshContext,
): Promise<never> {
  const spent = mayHaveRotated(error);
  await giveBack(attempt, { spent }, deps);
  const code = error instanceof OAuthError ? error.code : "server_error";
  deps.onEvent({ name: "refresh_failed", vendor: key.vendor, attemptId: attempt.lease.attemptId, code, spent });
  throw withoutRestart(error);
}

function isRefusal(error: unknown): boolean {
  return error instanceof OAuthError && error.code === "invalid_grant";
}

/**
 * An error that refreshTokens does not define may have occurred before the vendor was asked, or
 * after.
 */
function mayHaveRotated(error: unknown): boolean {
  return error instanceof OAuthError ? error.extras.retry === "restart" : true;
}

/** The next attempt decides whether a flow must be restarted, not this caller. */
function withoutRestart(error: unknown): unknown {
  if (!(error instanceof OAuthError)) return error;
  const { code, description, detail, retryAfterSeconds, extras } = error;
  const {
    retry: _,
    reason = code === "temporarily_unavailable" ? "vendor_unavailable" : undefined,
    ...others
  } = extras;
  return new OAuthError(code, description, {
    ...others,
    cause: error,
    ...defined({ reason, detail, retryAfterSeconds }),
  });
}

function isStillOurs({ stored, lease }: CurrentRecord, { over, lease: ours }: Attempt): boolean {
  const isSame = stored.version === over.stored.version && stored.status === over.stored.status;
  return isSame && lease?.owner === ours.owner;
}

/** Undefined unless it is still valid and differs from the one just refused. */
function previousOf({ previous, stored }: CurrentRecord, { now }: Pick<RefreshContext, "now">): Secret | undefined {
  if (previous === undefined || now() >= previous.until) return undefined;
  return previous.refreshToken.reveal() === stored.tokens.refreshToken?.reveal() ? undefined : previous.refreshToken;
}
