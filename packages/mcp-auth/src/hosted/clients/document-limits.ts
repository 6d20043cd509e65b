/**
 * How often documents of hosts that no one listed are fetched: any caller can name such an address,
 * and this server must not send requests there for them without end. Used by metadata-document.ts.
 */
import { type Clock, createExpiringMap } from "@oauth-broker/oauth-core";
import { callerName } from "@oauth-broker/oauth-core/egress";
import { createRateLimit } from "@oauth-broker/service/http";
import type { ServerClient } from "./client.ts";

/** Per minute and process. */
const FETCHES_OF_ADDRESS = 30;
const FETCHES_OF_HOST = 10;
const FAILURE_SECONDS = 60;
const MOST_FAILURES = 1_000;

/**
 * @param clientId a document URL
 * @throws OAuthError slow_down; what `load` throws, and again without calling it while that is
 *   remembered
 */
export type LoadWithinLimits = (clientId: string, load: () => Promise<ServerClient>) => Promise<ServerClient>;

//= bar#AS-13
export function createDocumentLimits({ now }: { readonly now: Clock }): LoadWithinLimits {
  const failures = createExpiringMap<{ readonly cause: unknown }>(MOST_FAILURES, now);
  const ofAddress = createRateLimit(FETCHES_OF_ADDRESS, now);
  const ofHost = createRateLimit(FETCHES_OF_HOST, now);
  return async (clientId, load) => {
    const failure = failures.get(clientId);
    if (failure !== undefined) throw failure.cause;
    // Outbound calls of a request are charged to the address it came from: routes.ts.
    const address = callerName();
    ofAddress.requireLeft(address);
    //= bar#AS-13
    ofHost.take(new URL(clientId).host);
    //= bar#AS-13
    ofAddress.add(address);
    try {
      return await load();
    } catch (cause) {
      //= bar#AS-13
      failures.set(clientId, { cause }, now() + FAILURE_SECONDS);
      throw cause;
    }
  };
}
