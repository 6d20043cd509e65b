/**
 * Limits the bearer tokens of one address that `/mcp` refuses in a minute, in both modes. An
 * unknown token costs a call at the vendor or a read of the store, so a caller who tries tokens
 * would cause such calls without end. A token that was valid here is never delayed by other tokens
 * from its address. Sits between bearer.ts and the mode's `authenticate`.
 */
import {
  type Clock,
  createExpiringMap,
  createSharedCalls,
  createTurns,
  OAuthError,
  type Timer,
  toOAuthError,
} from "@oauth-broker/oauth-core";
import { hashOf } from "@oauth-broker/oauth-core/authorization-server";
import { createRateLimit } from "@oauth-broker/service/http";
import { LRUCache } from "lru-cache";
import type { Caller, Authenticate } from "../../mode.ts";

/**
 * @param address of the caller, caller-address.ts
 * @throws OAuthError as Authenticate; slow_down for an unknown token of an address that had too many
 *   refused
 */
export type AuthenticateFrom = (bearer: string, address: string) => Promise<Caller | undefined>;

export interface RefusedTokensDeps {
  /** 0 = off. */
  readonly refusedTokensPerMinute: number;
  readonly now: Clock;
  readonly timer: Timer;
}

/**
 * Tokens that were valid, and tokens that were counted: in separate maps, so that neither can evict
 * the other.
 */
const MOST_TOKENS = 10_000;
const COUNTED_SECONDS = 60;
/**
 * Unknown tokens that are checked at the same time, over all addresses, and those that wait for it.
 */
const MOST_UNDER_WAY = 256;
const MOST_WAITING = 1_000;

export function limitRefusedTokens(
  authenticate: Authenticate,
  { refusedTokensPerMinute, now, timer }: RefusedTokensDeps,
): AuthenticateFrom {
  const refusals = createRateLimit(refusedTokensPerMinute, now);
  // `max` would set aside memory for all entries from the start.
  const good = new LRUCache<string, true>({ maxSize: MOST_TOKENS, sizeCalculation: () => 1 });
  const counted = createExpiringMap<true>(MOST_TOKENS, now);
  const asked = createSharedCalls<Caller | undefined>();
  const turns = createTurns({
    most: MOST_UNDER_WAY,
    mostWaiting: MOST_WAITING,
    mostOfLane: (address) => {
      refusals.requireLeft(address);
      return refusals.left(address);
    },
    refusal: tooBusy,
    timer,
  });

  /** @param key address and token */
  const isCounted = (key: string): boolean => counted.get(key) === true;
  const ask = async (bearer: string, token: string, address: string): Promise<Caller | undefined> => {
    const key = `${address} ${token}`;
    const caller = await authenticate(bearer).catch((error: unknown) => {
      // Undone, so the same token is counted each time. No token is to blame for an
      // outage.
      if (toOAuthError(error).code === "vendor_response_invalid") refusals.add(address);
      throw error;
    });
    if (caller !== undefined) {
      good.set(token, true);
      return caller;
    }
    good.delete(token);
    if (!isCounted(key)) {
      counted.set(key, true, now() + COUNTED_SECONDS);
      refusals.add(address);
    }
    return undefined;
  };

  //= bar#ST-8
  return async (bearer, address) => {
    const token = hashOf(bearer);
    const key = `${address} ${token}`;
    if (good.has(token) || isCounted(key)) return ask(bearer, token, address);
    const first = asked.find(key);
    if (first !== undefined) {
      // The outage is reported to them too. A result found in the meantime is in the mode's cache.
      await first;
      return ask(bearer, token, address);
    }
    return asked.run(key, () => turns.run(address, {}, () => ask(bearer, token, address)));
  };
}

function tooBusy(): OAuthError {
  return new OAuthError("temporarily_unavailable", "Too many tokens are being checked now: try again in a moment", {
    reason: "tokens_under_way",
    retryAfterSeconds: 2,
  });
}
