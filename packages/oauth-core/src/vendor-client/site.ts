/**
 * Whose host an address is at, as far as its name says. Used where a token or a secret may go to further hosts of the party it is
 * meant for: registration-endpoint.ts, and the broker's configuration of vendors.
 */
import { isIP } from "node:net";
import { isPublicSuffix } from "../protocol/public-suffix.ts";
import { bareHost } from "./egress-url.ts";

/**
 * @param url may hold {placeholders}
 * @returns the shortest name somebody could have registered; of an address, the address
 */
export function siteOf(url: string): string {
  const host = bareHost(new URL(url.replace(/[{}]/g, "")));
  if (isIP(host) !== 0) return host;
  const labels = host.split(".");
  const suffixes = labels.map((_, index) => labels.slice(index).join("."));
  return suffixes.findLast((suffix) => !isPublicSuffix(suffix)) ?? host;
}
