/**
 * Data keys between the key service and the rows: one key seals many rows for a few minutes, and an
 * opened key is kept as long. Bounded by age, uses and entries (bar TS-13). A call to the key
 * service costs milliseconds and money; a row must not cost one each.
 */
import { type Clock, createSharedCalls, type KeyContext, type KeyWrapper, type Timer } from "@oauth-broker/oauth-core";
import { type DataKey, KEPT_KEY_LIMITS, type KeptKey, keptKeys } from "./data-keys-kept.ts";
import { callQueue, withTimeLimit } from "./data-keys-queue.ts";

export interface DataKeys {
  /**
   * @param uses how many fields will be sealed with it.
   * @throws OAuthError temporarily_unavailable, reason `kms_unavailable`
   */
  toSeal(uses: number): Promise<DataKey>;
  /**
   * The same for opening.
   *
   * @throws OAuthError temporarily_unavailable as above; TokenStoreError unreadable when the key
   *   service refuses the wrapped key
   */
  toOpen(wrapped: string, uses: number): Promise<Buffer>;
  /**
   * Whether new data keys are made under another root than this one, so that its row should be
   * sealed again.
   */
  isStale(wrapped: string): boolean;
  /** Drops every key, overwriting it first (best effort). */
  close(): void;
}

export interface DataKeysOptions {
  readonly keys: KeyWrapper;
  readonly context: KeyContext;
  readonly now: Clock;
  readonly timer: Timer;
  readonly limits?: Partial<typeof KEPT_KEY_LIMITS>;
}

/**
 * Data keys for one context. A key in memory needs no call; otherwise all callers that need the
 * same share a call. A failure is not remembered. After the root moved, rows are sealed under the
 * new root when the current key is spent, `maxAgeSeconds` later at most.
 */
export function createDataKeys({ keys, context, now, timer, limits }: DataKeysOptions): DataKeys {
  const bounds = { ...KEPT_KEY_LIMITS, ...limits };
  const kept = keptKeys(bounds, { now, timer });
  const queued = callQueue(timer);
  let current: KeptKey | undefined;
  const [making, opening] = [createSharedCalls<KeptKey>(), createSharedCalls<KeptKey>()];

  const make = async (): Promise<KeptKey> => {
    const { dataKey, wrapped } = await queued(() => keys.newDataKey(context));
    current = kept.keep(dataKey, wrapped);
    return current;
  };
  const open = async (wrapped: string): Promise<KeptKey> =>
    kept.keep(await queued(() => keys.unwrap(wrapped, context)), wrapped);

  /**
   * A caller that waited for a key may use it, even if the cache has dropped it in the meantime;
   * only its uses are counted.
   */
  const counted = async (uses: number, call: () => Promise<KeptKey>): Promise<KeptKey> => {
    // Zero uses are valid: the reader of rows refuses a row that lost its fields.
    if (!(uses >= 0 && uses <= bounds.maxUses)) throw new TypeError(`a data key has at most ${bounds.maxUses} uses`);
    for (;;) {
      // Each round ends here or finds a whole key used up by other callers.
      // oxlint-disable-next-line no-await-in-loop
      const key = await withTimeLimit(call(), timer);
      if (key.uses + uses <= bounds.maxUses) {
        key.uses += uses;
        return key;
      }
    }
  };

  return {
    toSeal: (uses) => {
      if (current !== undefined && kept.use(current, uses)) return current.forSealing;
      return counted(uses, () => making.run("", make));
    },
    toOpen: (wrapped, uses) => {
      const key = kept.get(wrapped);
      if (key !== undefined && kept.use(key, uses)) return key.forOpening;
      return counted(uses, () => opening.run(wrapped, () => open(wrapped))).then(({ dataKey }) => dataKey);
    },
    isStale: (wrapped) => keys.isStale?.(wrapped) ?? false,
    close: () => kept.close(),
  };
}
