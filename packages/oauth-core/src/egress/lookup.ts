/**
 * Resolves names so that one name whose DNS servers do not respond cannot hold up the others.
 * getaddrinfo runs on two threads of the process, so names chosen by untrusted parties never reach
 * it. guarded-connection.ts checks every address.
 */
import type { LookupAddress } from "node:dns";
import { lookup as getAddressInfo, Resolver } from "node:dns/promises";
import { createSharedCalls } from "../mechanics/shared-calls.ts";

/** All addresses of a name. Rejects when it has none. */
export type Lookup = (host: string) => Promise<readonly LookupAddress[]>;

/** Milliseconds and attempts. Together they stay well below the time for connecting. */
export const DNS_LIMITS = { timeout: 700, tries: 2, maxTimeout: 700 };

/**
 * For names the operator vouches for: the machine's own resolver, including hosts file and search
 * domains.
 */
export const systemLookup: Lookup = shared((host) => getAddressInfo(host, { all: true }));

/** For names from request parameters: DNS only, off the thread pool, with a short timeout. */
export const dnsLookup: Lookup = shared((host) => askDns(host, new Resolver(DNS_LIMITS)));

/** Both address families in full; when one does not respond, the other is used. */
export async function askDns(
  host: string,
  resolver: Pick<Resolver, "resolve4" | "resolve6">,
): Promise<LookupAddress[]> {
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  if (v4.status === "rejected" && v6.status === "rejected") throw v4.reason;
  return [
    ...(v4.status === "fulfilled" ? v4.value : []).map((address) => ({ address, family: 4 })),
    ...(v6.status === "fulfilled" ? v6.value : []).map((address) => ({ address, family: 6 })),
  ];
}

/** Concurrent callers for the same name share one look-up. Nothing is cached afterwards. */
function shared(lookup: Lookup): Lookup {
  const lookups = createSharedCalls<readonly LookupAddress[]>();
  return (host) => lookups.run(host, () => lookup(host));
}
