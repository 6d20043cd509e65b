/**
 * A session finishes once. The other side refuses a code that comes twice, and vendors may even
 * revoke the tokens of its first use (rfc6749#4.1.2): so a reload of the callback is already
 * stopped here, as far as this process knows.
 */
import type { Clock } from "./ports.ts";
import { type BrokerClientError, isOutage } from "./error.ts";
import { refused, type Session } from "./session.ts";

/**
 * @param translate turns what `finish` throws into our error
 * @returns a function that runs `finish` unless the session was used. After an outage that spent
 *   nothing it may be used again
 */
export function createSpentSessions(now: Clock, translate: (error: unknown) => BrokerClientError) {
  const spent = new Map<string, number>();
  /** @throws BrokerClientError invalid_session, reason `used` */
  return async <T>({ state, expiresAt }: Session, finish: () => Promise<T>): Promise<T> => {
    forgetExpired(spent, now());
    if (spent.has(state)) throw refused("used", "The callback was used before: start again");
    spent.set(state, expiresAt);
    try {
      return await finish();
    } catch (error) {
      const known = translate(error);
      if (isOutage(known)) spent.delete(state);
      throw known;
    }
  };
}

/** Nearly in the order of expiry, so that the first live one ends the search. */
function forgetExpired(spent: Map<string, number>, now: number): void {
  for (const [state, expiresAt] of spent) {
    if (expiresAt > now) return;
    spent.delete(state);
  }
}
