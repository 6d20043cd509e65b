/**
 * Work of a refresh that nobody waits for: commits of answers the store would not take in time, and tokens the vendor is
 * to be told about. A process that ends waits for it as long as it can.
 */
import type { Journal } from "./journal.ts";
import type { RefreshCall, RefreshContext } from "./refresh-context.ts";
import { type PendingCommit, type PendingDeps, writePending } from "./refresh-pending.ts";
import type { RowKey } from "./rows/token-rows.ts";
import { namesOf } from "./token-attributes.ts";
import type { SealedChange } from "./token-records.ts";
import type { TokenSet } from "./tokens.ts";

type OnConflict = () => Promise<"written" | "superseded">;

export interface Orphans {
  /** Goes on with a commit; resolves when it was tried once. @param onConflict the row is not as it was: by this very commit, or by somebody else */
  adopt(pending: PendingCommit, onConflict: OnConflict): Promise<void>;
  /** Whether an answer for this row is still to be written: its refresh token is then worth nothing. */
  has(row: RowKey): boolean;
  /** Best effort. */
  discard(tokens: TokenSet, call: Pick<RefreshCall, "discard" | "key">): void;
  /** Takes up what an earlier process left in the journal. Tries each once before it returns. */
  replay(): Promise<void>;
  /** How much is left. */
  count(): number;
  /** Stops trying. What is journaled stays there. */
  stop(): void;
}

export function createOrphans(
  deps: PendingDeps & Pick<RefreshContext, "onEvent"> & { readonly journal: Journal | undefined },
): Orphans {
  const { journal, onEvent } = deps;
  const rows = new Map<string, number>();
  const discards = new Set<Promise<void>>();
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
  /** @returns when it was tried once */
  const adopt = async (pending: PendingCommit, onConflict: OnConflict): Promise<void> => {
    const id = idOf(pending.key);
    rows.set(id, (rows.get(id) ?? 0) + 1);
    const tried = Promise.withResolvers<void>();
    const done = (): void => {
      const left = (rows.get(id) ?? 1) - 1;
      if (left === 0) rows.delete(id);
      else rows.set(id, left);
      tried.resolve();
    };
    // What is thrown here was no outage: nothing that another try could mend.
    finish(pending, tried.resolve, onConflict).then(done, done);
    return tried.promise;
  };

  return {
    adopt,
    has: (row) => rows.has(idOf(row)),
    discard: (tokens, { discard, key }) => {
      if (discard === undefined) return;
      const work = (async () => discard(tokens))()
        .catch(() => onEvent({ name: "discard_failed", vendor: key.vendor }))
        .finally(() => discards.delete(work));
      discards.add(work);
    },
    replay: async () => {
      const entries = (await journal?.entries()) ?? [];
      const tries = entries.map(async ({ attemptId, change }) => {
        const vendor = namesOf(change.key)?.vendor ?? "";
        const seal = async (): Promise<SealedChange> => change;
        return adopt({ key: change.key, vendor, attemptId, seal, change, journaled: true }, superseded);
      });
      await Promise.all(tries);
    },
    count: () => rows.size + discards.size,
    stop: () => {
      isStopped = true;
    },
  };
}

/** Of a change read from a file it cannot be said whose the row's tokens are, and it makes no difference. */
async function superseded(): Promise<"superseded"> {
  return "superseded";
}

function idOf({ pk, sk }: RowKey): string {
  return `${pk.length}:${pk}${sk}`;
}
