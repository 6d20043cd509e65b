/** How often one client, or one address, may do something, counted per process in memory (bar ST-8). */
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import { OAuthError } from "../protocol/errors.ts";

/** @throws OAuthError slow_down with Retry-After */
export type RateLimit = (caller: string) => Promise<void>;

/** @param perMinute 0 switches the limit off */
//= bar#ST-8
export function createRateLimit(perMinute: number): RateLimit {
  if (perMinute === 0) return async () => {};
  const limiter = new RateLimiterMemory({ points: perMinute, duration: 60 });
  return async (caller) => {
    try {
      await limiter.consume(caller);
    } catch (refused) {
      if (!(refused instanceof RateLimiterRes)) throw refused;
      throw new OAuthError("slow_down", "Too many requests of this kind: wait before the next one", {
        retryAfterSeconds: Math.max(1, Math.ceil(refused.msBeforeNext / 1000)),
      });
    }
  };
}
