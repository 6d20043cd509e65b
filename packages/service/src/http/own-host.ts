/**
 * Whether a request is for one of our hosts, and its form of one of our pages, and what the log says
 * of one that is not. Each service decides what it refuses.
 */
import { OAuthError } from "@oauth-broker/oauth-core";

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

/**
 * For pages that send no referrer: browsers post their forms with `Origin: null`, as they would
 * those of a sandboxed frame of any site. If the browser says more, that decides.
 *
 * @param site the Sec-Fetch-Site of a form
 * @throws OAuthError invalid_request 403, reason `foreign_form`
 */
//= bar#RS-7
export function requireOwnPage(site = "same-origin"): void {
  if (site === "same-origin" || site === "none") return;
  throw new OAuthError("invalid_request", "The form is not of this server", {
    reason: "foreign_form",
    status: 403,
    detail: "Sec-Fetch-Site says that another site posted the form",
  });
}
