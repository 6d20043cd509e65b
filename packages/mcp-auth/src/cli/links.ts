/**
 * `links list`: which users have connected an account, and whether each link works. Text for a
 * reader.
 */
import { type Output, printable } from "@oauth-broker/oauth-core/command-line";
import type { Vendor } from "@oauth-broker/oauth-core/registry";
import type { Link } from "@oauth-broker/token-store";
import type { EndedSessions } from "../hosted/sessions/user-sessions.ts";
import type { VendorRevocation } from "../hosted/links/link.ts";

/** A vendor of the server; its `id` as in the rows of links. */
export type OperatorVendor = Pick<Vendor, "id" | "name" | "revocationHelp">;

/** The storage of a server, as these commands see it. */
export interface OperatorLinks {
  /** By id as listed in `VENDORS`, or the only one. */
  readonly vendors: ReadonlyMap<string, OperatorVendor>;
  /** With `VENDORS`: the one that signs users in. */
  readonly signIn?: OperatorVendor | undefined;
  /** One user's links, or those of all users, at any vendor. */
  list(user: string | undefined): AsyncIterable<Link>;
  /** Those that the index of the user lists. */
  endSessions(user: string): Promise<EndedSessions>;
  /**
   * Ends the link here, revokes its tokens at the vendor, removes the record.
   *
   * @param vendor its id, as listed
   * @returns the vendor's result, if there was something to revoke
   */
  endLink(user: string, vendor: string): Promise<{ readonly vendor?: VendorRevocation }>;
  /** With `VENDORS`: ends the sign-ins of the user at the pages of links, and the pages that wait. */
  endPages(user: string): Promise<void>;
  close(): Promise<void>;
}

const STATUS: Readonly<Record<Link["status"], string>> = {
  active: "works",
  reauthorize: "must authorize again",
  revoked: "being revoked",
};
const WIDTH = Math.max(...Object.values(STATUS).map((text) => text.length));

/** @returns the exit code */
export async function listLinks(user: string | undefined, links: OperatorLinks, { print }: Output): Promise<number> {
  let count = 0;
  for await (const link of links.list(user)) {
    count += 1;
    print(
      `${statusOf(link).padEnd(WIDTH)}  ${printable(link.vendor)}  ${printable(link.user)}${signInOf(link, links)}`,
    );
  }
  const where = links.signIn === undefined ? "" : ` Users sign in at ${links.signIn.name}.`;
  print((count === 0 ? "No links." : `${count} ${count === 1 ? "link" : "links"}.`) + where);
  return 0;
}

/** A foreign row, made under another sign-in vendor, is not a link of the user with that name. */
function statusOf(link: Link): string {
  return link.foreign === true ? "foreign" : STATUS[link.status];
}

function signInOf({ vendor, signIn }: Link, links: OperatorLinks): string {
  if (links.signIn === undefined) return "";
  return `  signed in at ${signIn === undefined ? printable(vendor) : `${printable(signIn.vendor)}, ${printable(signIn.issuer)}`}`;
}
