/**
 * Whose request it is, as an address: what is counted by it (rate limits) must not be what a caller writes into a header.
 * Only what proxies of our own forwarded is believed.
 */
import type { IncomingMessage } from "node:http";
import { createCidrMatcher } from "@oauth-broker/oauth-core";
import type { Context } from "hono";

/** @returns the address of the caller, or of the last proxy that is not ours; `unknown` where there is no connection */
export type CallerAddress = (c: Context) => string;

/** @param trustedProxies networks in CIDR notation @throws Error naming the first that is none */
//= bar#ST-8
export function createCallerAddress(trustedProxies: readonly string[]): CallerAddress {
  const isTrusted = createCidrMatcher(trustedProxies);
  return (c) => {
    const peer = plain(
      (c.env as { incoming?: IncomingMessage } | undefined)?.incoming?.socket.remoteAddress ?? "unknown",
    );
    // Nearest first: each proxy appends whom it heard, so that what the caller wrote stands furthest away.
    const heard = (c.req.header("x-forwarded-for") ?? "").split(",").map((address) => plain(address.trim()));
    let caller = peer;
    for (const before of heard.toReversed()) {
      if (!isTrusted(caller) || before === "") break;
      caller = before;
    }
    return caller;
  };
}

/** IPv4 as IPv6 sockets show it. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, "");
}
