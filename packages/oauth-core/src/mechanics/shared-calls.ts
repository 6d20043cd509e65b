/**
 * Concurrent calls for the same key share one call. Nothing is kept afterwards, whether it
 * succeeded or failed.
 */

/** Calls by key, of which at most one a key is under way. */
export interface SharedCalls<T> {
  /** @returns the call under way, if there is one */
  find(key: string): Promise<T> | undefined;
  /** Starts the call, or shares what is under way. */
  run(key: string, call: () => Promise<T>): Promise<T>;
}

/**
 * @returns shared calls, none under way. A call that fails fails for all who share it; the next one
 *   calls again
 */
export function createSharedCalls<T>(): SharedCalls<T> {
  const underWay = new Map<string, Promise<T>>();
  const start = (key: string, call: () => Promise<T>): Promise<T> => {
    const started = call().finally(() => underWay.delete(key));
    underWay.set(key, started);
    return started;
  };
  return {
    find: (key) => underWay.get(key),
    run: (key, call) => underWay.get(key) ?? start(key, call),
  };
}
