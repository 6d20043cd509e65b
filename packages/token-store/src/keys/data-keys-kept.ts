/**
 * The data keys a process holds in the clear, and what makes it let go of one: age, uses, others that are needed more.
 * Time is compared at every use; a timer besides forgets keys nobody asks for again.
 */
import type { Clock, EpochSeconds } from "@oauth-broker/oauth-core";
import { LRUCache } from "lru-cache";

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
  const overwrite = laterOverwriter();
  const letGo = (key: KeptKey): void => {
    key.gone = true;
    overwrite(key.dataKey);
  };
  // A size of one each, since `max` would set aside memory for all.
  const kept = new LRUCache<string, KeptKey>({ maxSize: maxEntries, sizeCalculation: () => 1, dispose: letGo });
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  /** A clock that was set back says nothing about the age. */
  const isYoung = ({ since }: KeptKey): boolean => {
    const age = now() - since;
    return age >= 0 && age < maxAgeSeconds;
  };

  const remainingMs = ({ sinceMonotonic }: KeptKey): number =>
    sinceMonotonic + maxAgeSeconds * 1000 - performance.now();

  const sweep = (): void => {
    timer = undefined;
    const over = Array.from(kept.values()).filter((key) => remainingMs(key) <= 0 || !isYoung(key));
    for (const key of over) kept.delete(key.wrapped);
    sweepLater();
  };

  const sweepLater = (): void => {
    if (timer !== undefined || kept.size === 0) return;
    const soonest = Math.min(...Array.from(kept.values(), remainingMs));
    timer = setTimeout(sweep, Math.max(soonest, 0));
    timer.unref();
  };

  return {
    get: (wrapped) => kept.get(wrapped),

    use: (key, uses) => {
      if (key.gone) return false;
      //= bar#TS-13
      if (!isYoung(key) || key.uses + uses > maxUses) {
        kept.delete(key.wrapped);
        return false;
      }
      key.uses += uses;
      // Now the one used last.
      kept.get(key.wrapped);
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
        gone: false,
      };
      if (closed) {
        letGo(key);
        return key;
      }
      kept.set(wrapped, key);
      sweepLater();
      return key;
    },

    close: () => {
      closed = true;
      clearTimeout(timer);
      kept.clear();
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
