/**
 * Limits how often one client may make requests that load the broker, a vendor, or a host that
 * the client chose. Requests are counted once the client is authenticated, so that a wrong secret
 * uses up no client's limit. Called by routes/api.ts and routes/register.ts.
 */
import type { Clock } from "@oauth-broker/oauth-core";
import { createRateLimit } from "@oauth-broker/service/http";
import type { LimitsConfig } from "./config.ts";

export type RateLimits = ReturnType<typeof createRateLimits>;

const REGISTRATIONS_PER_MINUTE = 60;

export function createRateLimits({ parPerMinute, explainPerMinute, vendorCallsPerMinute }: LimitsConfig, now: Clock) {
  return {
    par: createRateLimit(parPerMinute, now),
    /** Fetches metadata from hosts that the client chose, as a pushed request may. */
    explain: createRateLimit(explainPerMinute, now),
    /**
     * Token, revoke, check and register together: they use up the quota that a vendor gives the
     * broker for all its clients.
     */
    vendorCalls: createRateLimit(vendorCallsPerMinute, now),
    /** In addition to `vendorCalls`: each registration stays at the vendor for good. */
    registrations: createRateLimit(Math.min(vendorCallsPerMinute, REGISTRATIONS_PER_MINUTE), now),
  };
}
