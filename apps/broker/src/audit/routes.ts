/**
 * The audit stream around the routes: refusals of every leg, and the check before anything is
 * spent. The legs record themselves what they have done.
 */
import { type Clock, defined, type OAuthError, toOAuthError } from "@oauth-broker/oauth-core";
import { createRateLimit, type RateLimit, type Route, type Trace } from "@oauth-broker/service/http";
import type { Audit } from "./audit.ts";

/**
 * @param routes.ofClients refuse every request while nothing can be recorded
 * @param routes.open go on in the meantime
 */
export function auditedRoutes(
  { ofClients, open }: { readonly ofClients: readonly Route[]; readonly open: readonly Route[] },
  audit: Audit,
  now: Clock,
): Route[] {
  const beyondLimit = createRateLimit(1, now);
  return [...ofClients.map((route) => requireWritable(route, audit)), ...open].map((route) =>
    // Probes and scrapes.
    route.quiet === true ? route : withRefusals(route, { audit, beyondLimit }),
  );
}

function requireWritable(route: Route, audit: Audit): Route {
  return {
    ...route,
    handle: (c, trace) => {
      audit.requireWritable();
      return route.handle(c, trace);
    },
  };
}

/**
 * Records an error as the caller gets it: thrown, or as a redirect. The caller gets it even if
 * it cannot be recorded.
 */
function withRefusals(
  route: Route,
  { audit, beyondLimit }: { readonly audit: Audit; readonly beyondLimit: RateLimit },
): Route {
  const record = async (error: OAuthError, trace: Trace): Promise<void> => {
    if (error.code === "slow_down") {
      // A client beyond its limit is on record once a minute, no matter how often it comes.
      const caller = `${route.path} ${trace.clientId ?? ""}`;
      if (beyondLimit.left(caller) <= 0) return;
      beyondLimit.add(caller);
    }
    const reason = trace.reason ?? error.extras.reason;
    const fields = { ...trace, outcome: error.code, ...defined({ reason }) };
    await audit.record("refused", fields).catch(() => undefined);
  };
  return {
    ...route,
    handle: async (c, trace) => {
      try {
        const answer = await route.handle(c, trace);
        if (trace.failure !== undefined) await record(trace.failure, trace);
        return answer;
      } catch (error) {
        await record(toOAuthError(error), trace);
        throw error;
      }
    },
  };
}
