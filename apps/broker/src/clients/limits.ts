/** How often one client may push requests, or register clients at vendors, counted per process in memory (bar ST-8). */
import { OAuthError } from "@oauth-broker/oauth-core";
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";

/** @throws OAuthError slow_down with Retry-After */
export type RateLimit = (clientId: string) => Promise<void>;

/** @param perMinute 0 switches the limit off */
//= bar#ST-8
export function createRateLimit(perMinute: number): RateLimit {
  if (perMinute === 0) return async () => {};
  const limiter = new RateLimiterMemory({ points: perMinute, duration: 60 });
  return async (clientId) => {
    try {
      await limiter.consume(clientId);
    } catch (refused) {
      if (!(refused instanceof RateLimiterRes)) throw refused;
      throw new OAuthError("slow_down", "Too many requests of this kind: wait before the next one", {
        retryAfterSeconds: Math.max(1, Math.ceil(refused.msBeforeNext / 1000)),
      });
    }
  };
}
