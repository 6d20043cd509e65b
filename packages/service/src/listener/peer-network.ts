/** Whose connection it is: the address of the other side, and the network that one customer has. */

/**
 * @param address as `plainAddress` gives it
 * @returns for IPv6 the /64 network, which belongs to one customer; an IPv4 address, and any other
 *   text, as it is
 */
//= bar#ST-8
export function networkOf(address: string): string {
  if (!IPV6.test(address) || !address.includes(":")) return address;
  const [head = [], tail = []] = address.split("::").map((part) => part.split(":").filter((group) => group !== ""));
  const zeros = Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => "0");
  const groups = [...head, ...zeros, ...tail];
  const network = groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${network.join(":")}::/64`;
}

const IPV6 = /^[0-9a-f:]+$/i;

/** Some proxies append the caller's port, which differs for each connection. */
const WITH_PORT = /^(?:\[([0-9a-f:.]+)\]|(\d+(?:\.\d+){3}))(?::\d{1,5})?$/i;

/** Without port and brackets; IPv4 without the IPv6 form that sockets show. */
export function plainAddress(address: string): string {
  const [, ipv6, ipv4] = WITH_PORT.exec(address) ?? [];
  return (ipv6 ?? ipv4 ?? address).replace(/^::ffff:(?=\d+\.)/i, "");
}
