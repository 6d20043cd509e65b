/**
 * Turns the vendor's response into the next version of the record: sealed, then written on
 * condition that version, status and lease are unchanged. A response survives a store that is
 * unavailable, and is dropped when the row has moved on.
 */
import { defined, isOutage, OAuthError, type Secret } from "@oauth-broker/oauth-core";
import { TokenStoreError } from "../errors.ts";
import { type Attempt, type Outcome, type RefreshCall, type RefreshContext, activeRecord } from "./context.ts";
import { type Orphans, type PendingCommit, type PendingDeps, writePending } from "./orphans.ts";
import { giveBack, isStolen } from "./record-lease.ts";
import type { CurrentRecord, SealedChange } from "../tokens/token-records.ts";
import type { Previous } from "../tokens/token-sealing.ts";
import type { StoredTokens, TokenSet } from "../tokens/tokens.ts";

export interface CommitDeps extends RefreshContext, PendingDeps {
  readonly orphans: Orphans;
}

/** @param sent the refresh token that was sent to the vendor */
export async function commitAnswer(
  attempt: Attempt,
  { sent, answer }: { readonly sent: Secret; readonly answer: TokenSet },
  call: RefreshCall,
  deps: CommitDeps,
): Promise<Outcome> {
  const { records, now, timer, times, onEvent, orphans } = deps;
  const { over, lease } = attempt;
  const { vendor } = call.key;
  const { attemptId } = lease;
  const tokens = carriedOver(over.stored.tokens, sent, answer);
  const stored: StoredTokens = { tokens, status: "active", version: over.stored.version + 1, writtenAt: now() };
  const pending: PendingCommit = {
    key: over.row.key,
    vendor,
    attemptId,
    seal: () => records.seal(over, tokens, previousOf(sent, tokens, deps)),
  };

  const giveUpAt = timer.elapsedMs() + times.commitMs;
  const result = await writePending(pending, () => timer.elapsedMs() >= giveUpAt, deps).catch(
    async (error: unknown) => {
      await giveBack(attempt, { spent: true }, deps);
      throw cannotBeStored(error);
    },
  );
  const ofConflict = () => afterConflict(attempt, tokens, pending.change, call, deps);
  if (result === "unavailable") {
    //= bar#8.2-6
    void orphans.adopt(pending, async () => ((await ofConflict()) === "own" ? "written" : "superseded"));
    onEvent({ name: "refresh_orphaned", vendor, attemptId, journaled: pending.journaled === true });
    throw new OAuthError("temporarily_unavailable", "The refreshed tokens could not be stored yet", {
      reason: "store_unavailable",
    });
  }
  const outcome = result === "written" ? "own" : await ofConflict();
  if (outcome !== "own") return outcome;
  onEvent({ name: "refreshed", vendor, attemptId, version: stored.version });
  return stored;
}

/** Members that the response leaves out are carried over. */
//= rfc6749#6
function carriedOver(old: TokenSet, sent: Secret, answer: TokenSet): TokenSet {
  const { idToken, scope, clientId, vendorData, link } = old;
  const refreshExpiresAt = answer.refreshToken === undefined ? old.refreshExpiresAt : undefined;
  return {
    ...defined({ idToken, scope, refreshExpiresAt, clientId, vendorData, link }),
    ...answer,
    //= bar#RF-2
    refreshToken: answer.refreshToken ?? sent,
  };
}

/** The replaced refresh token, for as long as a vendor might still accept it. */
//= bar#RF-3
function previousOf(sent: Secret, { refreshToken }: TokenSet, { now, times }: RefreshContext): Previous | undefined {
  const isReplaced = refreshToken?.reveal() !== sent.reveal();
  return isReplaced ? { refreshToken: sent, until: now() + times.previousSeconds } : undefined;
}

/**
 * The row is not as it was when the lease was taken.
 *
 * @returns `own` when the row holds this very change, written by an attempt whose answer was lost
 */
async function afterConflict(
  attempt: Attempt,
  tokens: TokenSet,
  change: SealedChange | undefined,
  call: RefreshCall,
  { records, now, onEvent, orphans }: CommitDeps,
): Promise<Outcome | "own"> {
  const { vendor } = call.key;
  const { lease } = attempt;
  const current = activeRecord(await records.read(call.key));
  if (current === undefined) {
    // Revocation wins. Its own call to the vendor did not cover these tokens.
    //= bar#RV-4
    orphans.discard(tokens, call);
    return "gone";
  }
  if (change !== undefined && isWritten(change, current)) return "own";
  onEvent({ name: "refresh_fenced", vendor, attemptId: lease.attemptId });
  if (isStolen(attempt, current, { now })) onEvent({ name: "clock_skew", vendor });
  // The new tokens are not revoked at the vendor: that could end the grant of the row's tokens.
  return "fenced";
}

/** Sealed values are never the same twice, so equal ones are ours. */
//= bar#8.2-5
function isWritten({ change }: SealedChange, { row }: CurrentRecord): boolean {
  return Object.entries(change.set).every(([name, value]) => row.attributes[name] === value);
}

/** A token that is too large, for example. The old refresh token may have been rotated away. */
function cannotBeStored(error: unknown): unknown {
  if (isOutage(error) || !(error instanceof TokenStoreError)) return error;
  return new OAuthError("vendor_response_invalid", "The vendor's tokens cannot be stored", {
    reason: error.code,
    cause: error,
    detail: error.message,
  });
}
