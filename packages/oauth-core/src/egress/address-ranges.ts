/**
 * Which network addresses and host names are public, and which are inside a private network.
 * Pure data and look-ups, no I/O.
 */
import { BlockList, isIP } from "node:net";

/**
 * IPv4 ranges that are not for the public internet (RFC 6890 and the IANA special-purpose
 * registry).
 */
const PRIVATE_V4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3",
];

/**
 * Only 2000::/3 is routed publicly; these parts of it are special or carry an IPv4 address inside.
 */
const PRIVATE_WITHIN_GLOBAL_V6 = ["2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20"];

const privateV4 = blockListOf(PRIVATE_V4);
const privateV6 = blockListOf(PRIVATE_WITHIN_GLOBAL_V6);
const globalV6 = blockListOf(["2000::/3"]);
const loopbackV4 = blockListOf(["127.0.0.0/8"]);

/** ISATAP (rfc5214#6.1) hides an IPv4 address behind an interface id of 0:5efe or 200:5efe. */
const ISATAP = /(?:::|:0:|:200:)5efe:(?:[0-9a-f]{1,4}:[0-9a-f]{1,4}|:)$/;

/**
 * Suffixes that never name a host of the public internet; `svc` and `default` are the short names
 * inside a cluster.
 */
const PRIVATE_SUFFIXES = [
  "localhost",
  "localdomain",
  "local",
  "internal",
  "intranet",
  "lan",
  "corp",
  "home",
  "home.arpa",
  "svc",
  "default",
];

/**
 * Whether an address belongs to the public internet. Anything that is not clearly an address is not
 * public.
 *
 * @param address as `net` prints it: dotted IPv4, or IPv6 without brackets
 */
//= bar#EG-2
//= bar#EG-3
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !privateV4.check(address, "ipv4");
  // A zone (`fe80::1%eth0`) is only ever link-local.
  if (family !== 6 || address.includes("%")) return false;
  // Mapped, compatible, NAT64, unique-local, link-local and multicast addresses all lie outside
  // 2000::/3.
  if (!globalV6.check(address, "ipv6") || privateV6.check(address, "ipv6")) return false;
  return !ISATAP.test(new URL(`http://[${address}]`).hostname.slice(1, -1));
}

/** Whether an address is 127.0.0.0/8 or ::1, written plainly: a mapped form is not accepted. */
export function isLoopbackAddress(address: string): boolean {
  return isIP(address) === 4 ? loopbackV4.check(address, "ipv4") : address === "::1";
}

/**
 * Whether a name can only mean an internal host: single labels, `localhost`, `.local`, `.internal`
 * and the like, and any name with a trailing dot, which resolves like the name without it but does
 * not compare equal to it.
 *
 * @param host a parsed host name in lower case, not an IP address
 */
export function isPrivateName(host: string): boolean {
  if (host.endsWith(".") || !host.includes(".")) return true;
  //= bar#EG-5
  return PRIVATE_SUFFIXES.some((suffix) => host.endsWith(`.${suffix}`));
}

/**
 * A test for membership in networks the operator named.
 *
 * @param cidrs such as `10.20.0.0/16` or `fd00:1234::/32`
 * @throws Error naming the first entry that is not a network
 */
export function createCidrMatcher(cidrs: readonly string[]): (address: string) => boolean {
  if (cidrs.length === 0) return () => false;
  const list = blockListOf(cidrs);
  return (address) => {
    const family = isIP(address);
    return family !== 0 && !address.includes("%") && list.check(address, family === 4 ? "ipv4" : "ipv6");
  };
}

function blockListOf(cidrs: readonly string[]): BlockList {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [, network = "", bits = ""] = /^([^/%]+)\/(\d{1,3})$/.exec(cidr) ?? [];
    const family = isIP(network);
    if (family === 0 || Number(bits) > (family === 4 ? 32 : 128))
      throw new Error(`not a network in CIDR notation: ${cidr}`);
    list.addSubnet(network, Number(bits), family === 4 ? "ipv4" : "ipv6");
  }
  return list;
}
