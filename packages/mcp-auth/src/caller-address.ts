/**
 * The address of the caller, for rate limits: it must not be what a caller writes into a header.
 * Only the headers of trusted proxies are used.
 */
import type { IncomingMessage } from "node:http";
import { createCidrMatcher } from "@oauth-broker/oauth-core/egress";
import type { Context } from "hono";

/**
 * @returns the address of the caller, or of the last proxy that is not trusted; for IPv6 the /64
 *   network, which belongs to one customer; `unknown` when there is no connection
 */
export type CallerAddress = (c: Context) => string;

/**
 * @param trustedProxies networks in CIDR notation
 * @throws Error naming the first entry that is not a network
 */
//= bar#ST-8
export function createCallerAddress(trustedProxies: readonly string[]): CallerAddress {
  const isTrusted = createCidrMatcher(trustedProxies);
  return (c) => {
    const peer = plain(
      (c.env as { incoming?: IncomingMessage } | undefined)?.incoming?.socket.remoteAddress ?? "unknown",
    );
    // Nearest first: each proxy appends the peer it saw, so text from the caller is furthest away.
    const heard = (c.req.header("x-forwarded-for") ?? "").split(",").map((address) => plain(address.trim()));
    let caller = peer;
    for (const before of heard.toReversed()) {
      if (!isTrusted(caller) || before === "") break;
      caller = before;
    }
    return networkOf(caller);
  };
}

const IPV6 = /^[0-9a-f:]+$/i;

function networkOf(address: string): string {
  if (!IPV6.test(address) || !address.includes(":")) return address;
  const [head = [], tail = []] = address.split("::").map((part) => part.split(":").filter((group) => group !== ""));
  const zeros = Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => "0");
  const groups = [...head, ...zeros, ...tail];
  const network = groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${network.join(":")}::/64`;
}

/** Some proxies append the caller's port, which differs for each connection. */
const WITH_PORT = /^(?:\[([0-9a-f:.]+)\]|(\d+(?:\.\d+){3}))(?::\d{1,5})?$/i;

/** Without port and brackets; IPv4 without the IPv6 form that sockets show. */
function plain(address: string): string {
  const [, ipv6, ipv4] = WITH_PORT.exec(address) ?? [];
  return (ipv6 ?? ipv4 ?? address).replace(/^::ffff:(?=\d+\.)/i, "");
}
