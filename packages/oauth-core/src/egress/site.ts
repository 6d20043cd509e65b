/**
 * Whose host an address is at, as far as its name says. Used where a token or a secret may go to
 * further hosts of the party it is meant for: registration-endpoint.ts, and the configuration of
 * vendors that the operator moved.
 */
import { isIP } from "node:net";
import { registrableDomain } from "../protocol/public-suffix.ts";
import { bareHost } from "./url.ts";

/**
 * @param url may hold {placeholders}
 * @returns the shortest name a party could have registered; of an address, the address
 */
export function siteOf(url: string): string {
  const host = bareHost(new URL(url.replace(/[{}]/g, "")));
  return isIP(host) === 0 ? registrableDomain(host) : host;
}
