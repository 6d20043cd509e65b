/**
 * How often one address did something within its minute, counted in this process. The minute of an
 * address begins with the first count. Callers: hosted/routes.ts, mcp/refused-tokens.ts.
 */
import { type Clock, createExpiringMap, type EpochSeconds, OAuthError } from "@oauth-broker/oauth-core";

export interface MinuteCount {
  /** How many more of them this minute holds. */
  left(address: string): number;
  /** @throws OAuthError slow_down with Retry-After where none is left */
  requireLeft(address: string): void;
  add(address: string): void;
  /** What `add` counted did not happen. */
  takeBack(address: string): void;
}

interface Minute {
  readonly endsAt: EpochSeconds;
  readonly count: number;
}

const MINUTE_SECONDS = 60;
/** An address that is forgotten begins a new minute. */
const MOST_ADDRESSES = 50_000;

/** @param perMinute 0 switches the limit off */
//= bar#ST-8
export function createMinuteCount(perMinute: number, now: Clock): MinuteCount {
  const most = perMinute === 0 ? Infinity : perMinute;
  const minutes = createExpiringMap<Minute>(MOST_ADDRESSES, now);
  const minuteOf = (address: string): Minute => minutes.get(address) ?? { endsAt: now() + MINUTE_SECONDS, count: 0 };
  const change = (address: string, by: number): void => {
    const { endsAt, count } = minuteOf(address);
    minutes.set(address, { endsAt, count: Math.max(0, count + by) }, endsAt);
  };
  const left = (address: string): number => most - minuteOf(address).count;
  return {
    left,
    requireLeft: (address) => {
      if (left(address) > 0) return;
      throw new OAuthError("slow_down", "Too many requests of this kind: wait before the next one", {
        retryAfterSeconds: minuteOf(address).endsAt - now(),
      });
    },
    add: (address) => change(address, 1),
    takeBack: (address) => change(address, -1),
  };
}
