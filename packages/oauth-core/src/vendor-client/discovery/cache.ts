/**
 * Documents of vendors that change seldom: metadata and key sets. Fresh for ten minutes, loaded
 * once for concurrent callers, and still usable for an hour when the vendor is down.
 */
import { LRUCache } from "lru-cache";
import type { Clock, EpochSeconds } from "../../ports.ts";
import { isOutage } from "../../protocol/errors.ts";
import { type Deadline, waitUntil } from "../deadline.ts";

export interface RefreshingCache<T> {
  /**
   * @param deadline until when this caller waits for a load, which goes on for others; evaluated
   *   only when there is a load
   * @throws what `load` throws, and temporarily_unavailable at the deadline, when no usable
   *   document is at hand
   */
  get(key: string, deadline?: Deadline): Promise<T>;
  /**
   * Loads although the document is fresh, at most once in thirty seconds; otherwise returns the
   * document it has.
   */
  reload(key: string, deadline?: Deadline): Promise<T>;
}

/** A document this old is loaded again. */
export const FRESH_SECONDS = 600;
const USABLE_SECONDS = 3600;
/** After an outage the stale document is used for this long before the next attempt. */
const RETRY_SECONDS = 30;
const RELOAD_SECONDS = 30;
const MAX_ENTRIES = 256;

interface Entry<T> {
  held?: { readonly value: T; readonly loadedAt: EpochSeconds };
  failedAt?: EpochSeconds;
  reloadedAt?: EpochSeconds;
  loading?: Promise<T>;
}

export function createRefreshingCache<T>(load: (key: string) => Promise<T>, now: Clock): RefreshingCache<T> {
  const entries = new LRUCache<string, Entry<T>>({
    maxSize: MAX_ENTRIES,
    sizeCalculation: () => 1,
    memoMethod: () => ({}),
  });

  const heldWithin = (entry: Entry<T>, seconds: number): { readonly value: T } | undefined =>
    entry.held !== undefined && now() - entry.held.loadedAt < seconds ? entry.held : undefined;

  const loadOnce = (key: string, entry: Entry<T>): Promise<T> => {
    entry.loading ??= load(key)
      .then((value) => {
        entry.held = { value, loadedAt: now() };
        return value;
      })
      .finally(() => {
        delete entry.loading;
      });
    return entry.loading;
  };

  const loadOrStale = async (key: string, entry: Entry<T>, deadline: Deadline | undefined): Promise<T> => {
    try {
      const loading = loadOnce(key, entry);
      return await (deadline === undefined ? loading : waitUntil(deadline(), loading));
    } catch (error) {
      // A refused document is requested again: otherwise the stale one would silently replace
      // it.
      //= bar#JW-4
      if (!isOutage(error)) throw error;
      entry.failedAt = now();
      const stale = heldWithin(entry, USABLE_SECONDS);
      if (stale !== undefined) return stale.value;
      throw error;
    }
  };

  return {
    get: async (key, deadline) => {
      const entry = entries.memo(key);
      const fresh = heldWithin(entry, FRESH_SECONDS);
      if (fresh !== undefined) return fresh.value;
      const stale = heldWithin(entry, USABLE_SECONDS);
      if (stale !== undefined && now() - (entry.failedAt ?? -Infinity) < RETRY_SECONDS) return stale.value;
      return loadOrStale(key, entry, deadline);
    },
    reload: async (key, deadline) => {
      const entry = entries.memo(key);
      const held = heldWithin(entry, USABLE_SECONDS);
      //= bar#JW-2
      if (held !== undefined && now() - (entry.reloadedAt ?? -Infinity) < RELOAD_SECONDS) return held.value;
      entry.reloadedAt = now();
      return loadOrStale(key, entry, deadline);
    },
  };
}
