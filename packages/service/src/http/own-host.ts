/**
 * Whether a request is for one of our hosts, and what the log says of one that is not. Each service
 * decides what it refuses.
 */

/** @param host of the request; the scheme's own port and case do not matter */
//= rfc9110#4.2.3
export function isHostOf({ host: expected, protocol }: URL, host: string | undefined): boolean {
  return host?.toLowerCase().replace(protocol === "https:" ? /:443$/ : /:80$/, "") === expected;
}

/** @param expected in words, or a host. Most often a proxy has put its own name for the server there. */
export function foreignHostDetail(expected: string, host: string | undefined): string {
  return `expected Host ${expected}, got ${quoteHeader(host)}: a proxy in front has to keep the Host of the request`;
}

const LONGEST_SHOWN = 100;

/** A header of a stranger, for the log: what a host or an origin can have, and no more of it than fits. */
export function quoteHeader(header = "none"): string {
  return header.slice(0, LONGEST_SHOWN).replace(/[^\w.:/[\]-]/g, "?");
}
