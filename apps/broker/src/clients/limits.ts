/** How often one client may push requests, counted per process in memory (bar ST-8). */
import { OAuthError } from "@oauth-broker/oauth-core";
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";

/** @throws OAuthError slow_down with Retry-After */
export type RateLimit = (clientId: string) => Promise<void>;

/** @param parPerMinute 0 switches the limit off */
//= bar#ST-8
export function createRateLimit(parPerMinute: number): RateLimit {
  if (parPerMinute === 0) return async () => {};
  const limiter = new RateLimiterMemory({ points: parPerMinute, duration: 60 });
  return async (clientId) => {
    try {
      await limiter.consume(clientId);
    } catch (refused) {
      if (!(refused instanceof RateLimiterRes)) throw refused;
      throw new OAuthError("slow_down", "Too many pushed requests: wait before the next one", {
        retryAfterSeconds: Math.max(1, Math.ceil(refused.msBeforeNext / 1000)),
      });
    }
  };
}
