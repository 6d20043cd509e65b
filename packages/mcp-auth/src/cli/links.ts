/**
 * `links list` and `links revoke`: which users have connected an account, and how the operator ends
 * a link. Text for a reader.
 */
import type { Link } from "@oauth-broker/token-store";
import type { VendorRevocation } from "../hosted/vendor-links/link.ts";

/** The storage of a server, as these commands see it. */
export interface OperatorLinks {
  readonly vendor: {
    readonly id: string;
    readonly name: string;
    /** What the user can do by hand. */
    readonly revocationHelp: string | undefined;
  };
  /** One user's links, or those of all users, at any vendor. */
  list(user: string | undefined): AsyncIterable<Link>;
  /** @returns how many sessions were live */
  endSessions(user: string): Promise<number>;
  /**
   * Ends the link here, revokes its tokens at the vendor, removes the record.
   *
   * @returns the vendor's result, if there was something to revoke
   */
  endLink(user: string): Promise<{ readonly vendor?: VendorRevocation }>;
  close(): Promise<void>;
}

export interface Output {
  /** A line for stdout. */
  readonly print: (line: string) => void;
  /** A line for stderr. */
  readonly say: (line: string) => void;
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
    print(`${STATUS[link.status].padEnd(WIDTH)}  ${shown(link.vendor)}  ${shown(link.user)}`);
  }
  print(count === 0 ? "No links." : `${count} ${count === 1 ? "link" : "links"}.`);
  return 0;
}

/**
 * Sessions first: a client that comes meanwhile must find that its session has ended.
 *
 * @returns the exit code
 */
//= bar#RV-1
export async function revokeLink(user: string, links: OperatorLinks, output: Output): Promise<number> {
  const { print, say } = output;
  const { vendor } = links;
  const isLinked = await hasLink(user, links);
  const sessions = await links.endSessions(user);
  if (sessions > 0) print(`${sessions} ${sessions === 1 ? "session" : "sessions"} ended.`);
  if (!isLinked) {
    if (sessions === 0)
      say(`${shown(user)} has no link to ${vendor.name} and no session: links list names those who do.`);
    return sessions === 0 ? 1 : 0;
  }
  const { vendor: revocation } = await links.endLink(user);
  print(`The link to ${vendor.name} is removed here.`);
  return printRevocation(revocation, vendor, output);
}

function printRevocation(
  revocation: VendorRevocation | undefined,
  vendor: OperatorLinks["vendor"],
  { print, say }: Output,
): number {
  const byHand = vendor.revocationHelp ?? "The user can remove this app in the account settings there";
  if (revocation === "token" || revocation === "grant")
    print(`${vendor.name} has revoked the ${revocation === "grant" ? "grant" : "token"}.`);
  if (revocation === "already") print(`${vendor.name} did not know the token any more.`);
  if (revocation === "unsupported") print(`${vendor.name} has no way to revoke tokens. ${byHand}.`);
  if (revocation === undefined)
    say(`The tokens could not be read, so nothing was revoked at ${vendor.name}. ${byHand}.`);
  if (revocation === "failed")
    say(`${vendor.name} could not revoke the token now, and may still accept it. ${byHand}.`);
  return revocation === undefined || revocation === "failed" ? 1 : 0;
}

async function hasLink(user: string, links: OperatorLinks): Promise<boolean> {
  for await (const link of links.list(user)) if (link.vendor === links.vendor.id) return true;
  return false;
}

/** Names come from the vendor and are printed on a terminal. */
function shown(name: string): string {
  return name.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "?");
}
