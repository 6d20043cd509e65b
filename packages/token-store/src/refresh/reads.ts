/**
 * Reads of one record shared by callers that come at the same moment, so that a thousand of them cost the store one read
 * or two. Nobody shares a read that began before the call: what was revoked before it must not be handed out by it.
 */

/** @param idOf equal for what may share */
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
    // Begins when the one before has ended, well or not; without one as soon as who calls now has called.
    const shared = waiting.get(id) ?? (begun.get(id) ?? Promise.resolve()).then(begin, begin);
    waiting.set(id, shared);
    return shared;
  };
}
