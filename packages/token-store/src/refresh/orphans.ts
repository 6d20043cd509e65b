/**
 * Commits that must be written, and the work of a refresh that no caller waits for: commits of
 * responses the store would not take in time, and tokens that are to be revoked at the vendor.
 * commit.ts waits for a pending commit first; from its first failure on it is kept in the journal,
 * so that it outlives this process. A process that ends waits for its orphans as long as it can.
 */
import { isOutage, OAuthError } from "@oauth-broker/oauth-core";
import { rowId, type RowKey } from "../storage/token-rows.ts";
import { namesOf } from "../tokens/token-attributes.ts";
import { type CurrentRecord, type SealedChange, withoutCopy } from "../tokens/token-records.ts";
import type { TokenSet } from "../tokens/tokens.ts";
import type { RefreshCall, RefreshContext } from "./context.ts";
import type { Journal, JournalEntry } from "./journal.ts";

export interface PendingCommit {
  readonly key: RowKey;
  readonly vendor: string;
  readonly attemptId: string;
  /** May fail as long as the key service does not respond. */
  readonly seal: () => Promise<SealedChange>;
  change?: SealedChange;
  journaled?: boolean;
}

export interface PendingDeps extends Pick<RefreshContext, "records" | "timer" | "times"> {
  readonly journal: Journal | undefined;
}

/**
 * Repeats the same change, so that an attempt that succeeded without our knowledge does no harm.
 *
 * @param isEnough called after every failure
 * @throws any error that is not an outage, such as a token that is too large
 */
export async function writePending(
  pending: PendingCommit,
  isEnough: () => boolean,
  { background = false, records, timer, times, journal }: PendingDeps & { readonly background?: boolean },
): Promise<"written" | "conflict" | "unavailable"> {
  for (;;) {
    try {
      pending.change ??= await pending.seal();
      const result = await records.commit(pending.change);
      if (pending.journaled === true) await journal?.remove(pending.attemptId);
      return result;
    } catch (error) {
      if (!isOutage(error)) throw error;
    }
    if (pending.change !== undefined && pending.journaled !== true && journal !== undefined) {
      const change = withoutCopy(pending.change);
      pending.journaled = change !== undefined && (await journal.write(pending.attemptId, change));
    }
    if (isEnough()) return "unavailable";
    await timer.sleep(times.retryMs, { background });
    // No caller waits for this one: once stopped, it does not try again.
    if (background && isEnough()) return "unavailable";
  }
}

type OnConflict = () => Promise<"written" | "superseded">;

export type Orphans = ReturnType<typeof createOrphans>;

export function createOrphans(deps: PendingDeps & Pick<RefreshContext, "onEvent">) {
  const { journal, onEvent } = deps;
  const rows = new Map<string, number>();
  const discards = new Set<Promise<void>>();
  /** Entries of the journal, each adopted once: the listing and a caller may find the same. */
  const takenUp = new Set<string>();
  let isStopped = false;

  const finish = async (pending: PendingCommit, onFailure: () => void, onConflict: OnConflict): Promise<void> => {
    const { vendor, attemptId } = pending;
    const isEnough = (): boolean => {
      onFailure();
      return isStopped;
    };
    const written = await writePending(pending, isEnough, { ...deps, background: true });
    if (written === "unavailable") return;
    const result = written === "conflict" ? await onConflict() : written;
    onEvent({ name: "orphan_settled", vendor, attemptId, result });
  };
  /**
   * Continues a commit; resolves after the first attempt.
   *
   * @param onConflict the row has changed: by this very commit, or by another writer
   */
  const adopt = async (pending: PendingCommit, onConflict: OnConflict): Promise<void> => {
    const id = rowId(pending.key);
    rows.set(id, (rows.get(id) ?? 0) + 1);
    const tried = Promise.withResolvers<void>();
    const done = (): void => {
      const left = (rows.get(id) ?? 1) - 1;
      if (left === 0) rows.delete(id);
      else rows.set(id, left);
      tried.resolve();
    };
    // An error here was not an outage: another attempt would not help.
    finish(pending, tried.resolve, onConflict).then(done, done);
    return tried.promise;
  };
  const takeUp = async ({ attemptId, change }: JournalEntry): Promise<void> => {
    if (takenUp.has(attemptId)) return;
    takenUp.add(attemptId);
    const vendor = namesOf(change.key)?.vendor ?? "";
    const seal = async (): Promise<SealedChange> => change;
    // It is unknown whose the row's tokens are, and it makes no difference.
    const superseded: OnConflict = async () => "superseded";
    await adopt({ key: change.key, vendor, attemptId, seal, change, journaled: true }, superseded);
  };

  return {
    adopt,
    /** Whether a response for this row is still to be written: its refresh token is then used up. */
    has: (row: RowKey): boolean => rows.has(rowId(row)),
    /** Best effort. */
    discard: (tokens: TokenSet, { discard, key }: Pick<RefreshCall, "discard" | "key">): void => {
      if (discard === undefined) return;
      const work = (async () => discard(tokens))()
        .catch(() => onEvent({ name: "discard_failed", vendor: key.vendor }))
        .finally(() => discards.delete(work));
      discards.add(work);
    },
    /**
     * Takes over what an earlier process left in the journal. Tries each entry once before it
     * returns.
     */
    replay: async (): Promise<void> => {
      const entries = (await journal?.entries()) ?? [];
      await Promise.all(entries.map(takeUp));
    },
    /**
     * The same for one attempt, without waiting for its write.
     *
     * @throws Error when its file cannot be read
     */
    replayOne: async (attemptId: string): Promise<void> => {
      const entry = await journal?.find(attemptId);
      if (entry !== undefined) void takeUp(entry);
    },
    /** How many commits are left. */
    count: (): number => rows.size + discards.size,
    /** Stops trying. Journaled commits stay in the journal. */
    stop: (): void => {
      isStopped = true;
    },
  };
}

/** How long a disk may take to report whether there is an entry. */
const LOOK_UP_MS = 2000;

/**
 * An attempt died in this row: the vendor's response to it may be in the journal. The listing at
 * start may not be complete, and another process may have written the entry after it. Once this
 * returns, an existing response counts as an orphan of this process. Without this look-up the
 * used-up refresh token is sent again, and the vendor ends the grant.
 *
 * @throws OAuthError temporarily_unavailable when the journal cannot be read: a delay is better
 *   than a lost grant
 */
//= bar#8.2-6
export async function settleDeadAttempt(
  { lease }: Pick<CurrentRecord, "lease">,
  { orphans, timer }: { readonly orphans: Orphans } & Pick<RefreshContext, "timer">,
): Promise<void> {
  if (lease === undefined) return;
  const tooLong = timer.sleep(LOOK_UP_MS, { background: true }).then(() => Promise.reject(new Error("no answer")));
  await Promise.race([orphans.replayOne(lease.attemptId), tooLong]).catch((cause: unknown) => {
    const detail = "the journal of refreshed tokens cannot be read";
    throw new OAuthError("temporarily_unavailable", "The tokens cannot be refreshed now", {
      reason: "store_unavailable",
      detail,
      cause,
    });
  });
}
