/**
 * The address of the caller, for rate limits: it must not be what a caller writes into a header.
 * Only the headers of trusted proxies are used.
 */
import type { IncomingMessage } from "node:http";
import { createCidrMatcher } from "@oauth-broker/oauth-core/egress";
import { networkOf, plainAddress } from "@oauth-broker/service";
import type { Context } from "hono";

/**
 * @returns the address of the caller, or of the last proxy that is not trusted; for IPv6 the /64
 *   network, which belongs to one customer; `unknown` without a connection
 */
export type CallerAddress = (c: Context) => string;

/** How a request comes in: from the app around the server (handler.ts), or by our listener. */
interface Connection {
  readonly remoteAddress?: string | undefined;
  readonly incoming?: IncomingMessage;
}

/**
 * @param trustedProxies networks in CIDR notation
 * @throws Error naming the first entry that is not a network
 */
//= bar#ST-8
export function createCallerAddress(trustedProxies: readonly string[]): CallerAddress {
  const isTrusted = createCidrMatcher(trustedProxies);
  return (c) => {
    const { remoteAddress, incoming } = (c.env ?? {}) as Connection;
    const peer = plainAddress(remoteAddress ?? incoming?.socket.remoteAddress ?? "unknown");
    // Nearest first: each proxy appends the peer it saw, so text from the caller is furthest away.
    const heard = (c.req.header("x-forwarded-for") ?? "").split(",").map((address) => plainAddress(address.trim()));
    let caller = peer;
    for (const before of heard.toReversed()) {
      if (!isTrusted(caller) || before === "") break;
      caller = before;
    }
    return networkOf(caller);
  };
}
