/**
 * The data keys a process holds in the clear, and what makes it let go of one: age, uses, others that are needed more.
 * Time is compared at every use; a timer besides forgets keys nobody asks for again.
 */
import type { Clock, EpochSeconds } from "@oauth-broker/oauth-core";

export interface DataKey {
  /**
   * 32 bytes. Belongs to the cache, which overwrites it with zeros: use it right after the `await` that brought it, before
   * any other `await`, and never change it.
   */
  readonly dataKey: Buffer;
  /** As the row keeps it. */
  readonly wrapped: string;
}

/** One data key in memory. Its promises are made once, so that using it again allocates nothing. */
export interface KeptKey extends DataKey {
  readonly forSealing: Promise<DataKey>;
  readonly forOpening: Promise<Buffer>;
  readonly since: EpochSeconds;
  /** The same by a clock that never goes back, in milliseconds. */
  readonly sinceMonotonic: number;
  uses: number;
  lastUse: number;
  gone: boolean;
}

export interface KeptKeys {
  get(wrapped: string): KeptKey | undefined;
  /** Counts the uses. @returns false when the key may not be used so often, or no longer; it is forgotten then */
  use(key: KeptKey, uses: number): boolean;
  /** Keeps a key that just arrived, in place of the one used longest ago where there are too many. */
  keep(dataKey: Buffer, wrapped: string): KeptKey;
  /** Forgets all, and keeps nothing any more. */
  close(): void;
}

export interface KeptKeyLimits {
  /** Default 300, the most the contract permits. */
  readonly maxAgeSeconds: number;
  /** Default 2^20, of sealing and opening together. */
  readonly maxUses: number;
  /** Opened keys kept; default 1,000. */
  readonly maxEntries: number;
}

export function keptKeys(
  { maxAgeSeconds, maxUses, maxEntries }: KeptKeyLimits,
  { now }: { readonly now: Clock },
): KeptKeys {
  const kept = new Map<string, KeptKey>();
  const overwrite = laterOverwriter();
  let useCount = 0;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const forget = (key: KeptKey): void => {
    if (key.gone) return;
    key.gone = true;
    if (kept.get(key.wrapped) === key) kept.delete(key.wrapped);
    overwrite(key.dataKey);
  };

  /** A clock that was set back says nothing about the age. */
  const isYoung = ({ since }: KeptKey): boolean => {
    const age = now() - since;
    return age >= 0 && age < maxAgeSeconds;
  };

  const remainingMs = ({ sinceMonotonic }: KeptKey): number =>
    sinceMonotonic + maxAgeSeconds * 1000 - performance.now();

  const sweep = (): void => {
    timer = undefined;
    for (const key of kept.values()) if (remainingMs(key) <= 0 || !isYoung(key)) forget(key);
    sweepLater();
  };

  const sweepLater = (): void => {
    if (timer !== undefined || kept.size === 0) return;
    const soonest = Math.min(...Array.from(kept.values(), remainingMs));
    timer = setTimeout(sweep, Math.max(soonest, 0));
    timer.unref();
  };

  const makeRoom = (): void => {
    while (kept.size >= maxEntries) {
      let oldest: KeptKey | undefined;
      for (const key of kept.values()) if (oldest === undefined || key.lastUse < oldest.lastUse) oldest = key;
      if (oldest === undefined) return;
      forget(oldest);
    }
  };

  return {
    get: (wrapped) => kept.get(wrapped),

    use: (key, uses) => {
      if (key.gone) return false;
      //= bar#TS-13
      if (!isYoung(key) || key.uses + uses > maxUses) {
        forget(key);
        return false;
      }
      key.uses += uses;
      key.lastUse = useCount += 1;
      return true;
    },

    keep: (dataKey, wrapped) => {
      const key: KeptKey = {
        dataKey,
        wrapped,
        forSealing: Promise.resolve({ dataKey, wrapped }),
        forOpening: Promise.resolve(dataKey),
        since: now(),
        sinceMonotonic: performance.now(),
        uses: 0,
        lastUse: (useCount += 1),
        gone: false,
      };
      if (closed) {
        forget(key);
        return key;
      }
      makeRoom();
      kept.set(wrapped, key);
      sweepLater();
      return key;
    },

    close: () => {
      closed = true;
      clearTimeout(timer);
      for (const key of kept.values()) forget(key);
    },
  };
}

/**
 * Zeros over keys, best effort: after the promises that were just answered with one have run, never in between. A caller
 * that uses a key right after its `await`, and not after a second one, still finds it whole.
 */
function laterOverwriter(): (key: Buffer) => void {
  let waiting: Buffer[] = [];
  return (key) => {
    waiting.push(key);
    if (waiting.length > 1) return;
    setImmediate(() => {
      for (const gone of waiting) gone.fill(0);
      waiting = [];
    });
  };
}
