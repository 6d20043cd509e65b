/**
 * Limits how often one caller, a client or an address, may do something within a minute, counted in
 * this process. A caller's minute begins with its first request.
 */
import { type Clock, createExpiringMap, type EpochSeconds, OAuthError } from "@oauth-broker/oauth-core";

/** Counts of callers within a minute, and the limit on them. */
export interface RateLimit {
  /** How many more this minute allows. */
  left(caller: string): number;
  /** @throws OAuthError slow_down with Retry-After when none is left */
  requireLeft(caller: string): void;
  add(caller: string): void;
  /** Undoes an `add` whose action did not happen. */
  takeBack(caller: string): void;
  /**
   * Counts one.
   *
   * @throws OAuthError slow_down with Retry-After when none is left; nothing is counted then
   */
  take(caller: string): void;
}

interface Minute {
  readonly endsAt: EpochSeconds;
  count: number;
}

const MINUTE_SECONDS = 60;
/** A caller that was evicted begins a new minute. */
const MOST_CALLERS = 50_000;

/** @param perMinute 0 switches the limit off */
//= bar#ST-8
export function createRateLimit(perMinute: number, now: Clock): RateLimit {
  const most = perMinute === 0 ? Infinity : perMinute;
  const minutes = createExpiringMap<Minute>(MOST_CALLERS, now);
  const minuteOf = (caller: string): Minute => minutes.get(caller) ?? { endsAt: now() + MINUTE_SECONDS, count: 0 };
  const change = (caller: string, by: number): void => {
    const minute = minuteOf(caller);
    if (minute.count === 0) minutes.set(caller, minute, minute.endsAt);
    minute.count = Math.max(0, minute.count + by);
  };
  const left = (caller: string): number => most - minuteOf(caller).count;
  const requireLeft = (caller: string): void => {
    //= bar#ST-8
    if (left(caller) > 0) return;
    throw new OAuthError("slow_down", "Too many requests of this kind: wait before the next one", {
      retryAfterSeconds: minuteOf(caller).endsAt - now(),
    });
  };
  return {
    left,
    requireLeft,
    add: (caller) => change(caller, 1),
    takeBack: (caller) => change(caller, -1),
    take: (caller) => {
      requireLeft(caller);
      change(caller, 1);
    },
  };
}
