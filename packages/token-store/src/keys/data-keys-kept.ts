/**
 * The data keys a process holds in plaintext, and when it releases one: age, uses, other keys used
 * more recently. Time is compared at every use; a timer also drops keys that are no longer
 * requested.
 */
import type { Clock, EpochSeconds, Timer } from "@oauth-broker/oauth-core";
import { LRUCache } from "lru-cache";

export interface DataKey {
  /**
   * 32 bytes. Owned by the cache, which overwrites it with zeros: use it directly after the `await`
   * that returned it, before any other `await`, and never change it.
   */
  readonly dataKey: Buffer;
  /** As the row stores it. */
  readonly wrapped: string;
}

/**
 * One data key in memory. Its promises are created once, so that using it again allocates nothing.
 */
export interface KeptKey extends DataKey {
  readonly forSealing: Promise<DataKey>;
  readonly forOpening: Promise<Buffer>;
  readonly since: EpochSeconds;
  /** The same on the timer, in milliseconds. */
  readonly sinceElapsedMs: number;
  uses: number;
  gone: boolean;
}

export const KEPT_KEY_LIMITS = {
  maxAgeSeconds: 300,
  /** Sealing and opening together. */
  maxUses: 2 ** 20,
  /** Opened keys kept. */
  maxEntries: 1_000,
};

export function keptKeys(
  { maxAgeSeconds, maxUses, maxEntries }: Readonly<typeof KEPT_KEY_LIMITS>,
  { now, timer }: { readonly now: Clock; readonly timer: Timer },
) {
  const overwrite = laterOverwriter();
  const letGo = (key: KeptKey): void => {
    key.gone = true;
    overwrite(key.dataKey);
  };
  // Every entry has size 1, because `max` would allocate memory for all entries.
  const kept = new LRUCache<string, KeptKey>({ maxSize: maxEntries, sizeCalculation: () => 1, dispose: letGo });
  let stopSweep: (() => void) | undefined;
  let closed = false;

  /** After the clock is set back, the difference is not an age. */
  const isYoung = ({ since }: KeptKey): boolean => {
    const age = now() - since;
    //= bar#TS-13
    return age >= 0 && age < maxAgeSeconds;
  };

  const remainingMs = ({ sinceElapsedMs }: KeptKey): number =>
    sinceElapsedMs + maxAgeSeconds * 1000 - timer.elapsedMs();

  const sweep = (): void => {
    stopSweep = undefined;
    const over = Array.from(kept.values()).filter((key) => remainingMs(key) <= 0 || !isYoung(key));
    for (const key of over) kept.delete(key.wrapped);
    sweepLater();
  };

  const sweepLater = (): void => {
    if (stopSweep !== undefined || kept.size === 0) return;
    const soonest = Math.min(...Array.from(kept.values(), remainingMs));
    stopSweep = timer.after(Math.max(soonest, 0), sweep, { background: true });
  };

  return {
    get: (wrapped: string): KeptKey | undefined => kept.get(wrapped),

    /**
     * Counts the uses.
     *
     * @returns false when the key has reached its limit of uses or age; it is dropped then
     */
    use: (key: KeptKey, uses: number): boolean => {
      if (key.gone) return false;
      //= bar#TS-13
      if (!isYoung(key) || key.uses + uses > maxUses) {
        kept.delete(key.wrapped);
        return false;
      }
      key.uses += uses;
      // Moves the key to the most recently used position.
      kept.get(key.wrapped);
      return true;
    },

    /** Keeps a new key, instead of the least recently used one when the cache is full. */
    keep: (dataKey: Buffer, wrapped: string): KeptKey => {
      const key: KeptKey = {
        dataKey,
        wrapped,
        forSealing: Promise.resolve({ dataKey, wrapped }),
        forOpening: Promise.resolve(dataKey),
        since: now(),
        sinceElapsedMs: timer.elapsedMs(),
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

    /** Drops all keys, and keeps none from then on. */
    close: (): void => {
      closed = true;
      stopSweep?.();
      kept.clear();
    },
  };
}

/**
 * Overwrites keys with zeros, best effort: after the promises that were just resolved with one have
 * run, never in between. A caller that uses a key directly after its `await`, and not after a
 * second one, still finds it intact.
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
