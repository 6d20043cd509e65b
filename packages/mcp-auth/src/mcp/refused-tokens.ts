/**
 * How many bearer tokens of one address `/mcp` refuses in a minute, in both modes. A token that
 * this server does not know costs a call at the vendor or a read of the store, so a caller who
 * tries tokens out would have it ask without end. A token that was good here is never held up by
 * what else its address sends. Between bearer.ts and the mode's gate.
 */
import {
  type Clock,
  createExpiringMap,
  createSharedCalls,
  createTurns,
  OAuthError,
  toOAuthError,
} from "@oauth-broker/oauth-core";
import { hashOf } from "@oauth-broker/oauth-core/server";
import { createRateLimit } from "@oauth-broker/oauth-core/service";
import { LRUCache } from "lru-cache";
import type { Caller, Gate } from "../mode.ts";

export interface AddressedGate {
  /**
   * @param address whose request it is, caller-address.ts
   * @throws OAuthError as Gate; slow_down for a token that is not known here, of an address that
   *   had too many refused
   */
  identify(bearer: string, address: string): Promise<Caller | undefined>;
}

export interface RefusedTokensDeps {
  /** 0 = off. */
  readonly refusedTokensPerMinute: number;
  readonly now: Clock;
}

/**
 * Tokens that were good, and tokens that were counted: each in a map of its own, so that one cannot
 * push the other out.
 */
const MOST_TOKENS = 10_000;
const COUNTED_SECONDS = 60;
/**
 * Unknown tokens that are asked about at the same time, over all addresses, and those that wait
 * until they may be.
 */
const MOST_UNDER_WAY = 256;
const MOST_WAITING = 1_000;

export function limitRefusedTokens(gate: Gate, { refusedTokensPerMinute, now }: RefusedTokensDeps): AddressedGate {
  const refusals = createRateLimit(refusedTokensPerMinute, now);
  const good = new LRUCache<string, true>({ max: MOST_TOKENS });
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
  });

  /** @param key address and token */
  const isCounted = (key: string): boolean => counted.get(key) === true;
  const ask = async (bearer: string, token: string, address: string): Promise<Caller | undefined> => {
    const key = `${address} ${token}`;
    const caller = await gate.identify(bearer).catch((error: unknown) => {
      // Nothing is kept of it, so the same token counts each time. Of an outage no token is to blame.
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

  return {
    //= bar#ST-8
    identify: async (bearer, address) => {
      const token = hashOf(bearer);
      const key = `${address} ${token}`;
      if (good.has(token) || isCounted(key)) return ask(bearer, token, address);
      const first = asked.find(key);
      if (first !== undefined) {
        // An outage is theirs too. What was found out meanwhile the gate knows now.
        await first;
        return ask(bearer, token, address);
      }
      return asked.run(key, () => turns.run(address, {}, () => ask(bearer, token, address)));
    },
  };
}

function tooBusy(): OAuthError {
  return new OAuthError("temporarily_unavailable", "Too many tokens are being checked now: try again in a moment", {
    reason: "tokens_under_way",
    retryAfterSeconds: 2,
  });
}
