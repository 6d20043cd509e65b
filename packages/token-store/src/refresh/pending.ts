/**
 * A commit that has to get through: sealed, tried again while the store is away, and kept in the journal from the first
 * failure on, so that it outlives this process. commit.ts waits for it, orphans.ts goes on behind.
 */
import type { Journal } from "./journal.ts";
import { isOutage, type RefreshContext } from "./context.ts";
import type { RowKey } from "../storage/token-rows.ts";
import { type SealedChange, withoutCopy } from "../tokens/token-records.ts";

export interface PendingCommit {
  readonly key: RowKey;
  readonly vendor: string;
  readonly attemptId: string;
  /** May fail as often as the key service does not answer. */
  readonly seal: () => Promise<SealedChange>;
  change?: SealedChange;
  journaled?: boolean;
}

export interface PendingDeps extends Pick<RefreshContext, "records" | "timer" | "times"> {
  readonly journal: Journal | undefined;
}

/**
 * The same change over and over, so that a try that was carried out without our hearing of it does no harm.
 *
 * @param isEnough asked after every failure
 * @throws what is no outage: a token that is too large
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
    // Nobody waits for this one: told to stop, it does not try once more.
    if (background && isEnough()) return "unavailable";
  }
}
