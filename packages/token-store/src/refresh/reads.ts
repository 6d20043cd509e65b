/**
 * Reads of one record shared by callers that arrive at the same moment, so that a thousand of them
 * cost the store one read or two. No caller shares a read that began before its call: tokens
 * revoked in between must not be returned by it.
 */

/** @param idOf equal for keys that may share */
export function shareReads<Key, T>(
  read: (key: Key) => Promise<T>,
  idOf: (key: Key) => string,
): (key: Key) => Promise<T> {
  const begun = new Map<string, Promise<T>>();
  const waiting = new Map<string, Promise<T>>();

  return (key) => {
    const id = idOf(key);
    const begin = async (): Promise<T> => {
      waiting.delete(id);
      const reading = read(key).finally(() => begun.delete(id));
      begun.set(id, reading);
      return reading;
    };
    // Begins when the previous read has ended, successfully or not; without one, as soon as the
    // current callers have called.
    const shared = waiting.get(id) ?? (begun.get(id) ?? Promise.resolve()).then(begin, begin);
    waiting.set(id, shared);
    return shared;
  };
}
