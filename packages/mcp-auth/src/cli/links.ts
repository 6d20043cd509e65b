/**
 * `links list` and `links revoke`: which users have connected an account, and how the operator ends
 * a link. Text for a reader.
 */
import type { Link } from "@oauth-broker/token-store";
import { ACCESS_TOKEN_LIFETIME_SECONDS } from "../hosted/sessions/record.ts";
import type { EndedSessions } from "../hosted/sessions/user-sessions.ts";
import type { VendorRevocation } from "../hosted/links/link.ts";

/** A vendor of the server. */
export interface OperatorVendor {
  /** As in the rows of links. */
  readonly id: string;
  readonly name: string;
  /** What the user can do by hand. */
  readonly revocationHelp: string | undefined;
}

/** The storage of a server, as these commands see it. */
export interface OperatorLinks {
  /** The only one, or the one that signs users in. */
  readonly vendor: OperatorVendor;
  /** With `VENDORS`: all of them, by id as listed. */
  readonly several?: ReadonlyMap<string, OperatorVendor> | undefined;
  /** One user's links, or those of all users, at any vendor. */
  list(user: string | undefined): AsyncIterable<Link>;
  /** Those that the index of the user lists. */
  endSessions(user: string): Promise<EndedSessions>;
  /**
   * Ends the link here, revokes its tokens at the vendor, removes the record.
   *
   * @param vendor with `VENDORS`: its id, as listed
   * @returns the vendor's result, if there was something to revoke
   */
  endLink(user: string, vendor?: string): Promise<{ readonly vendor?: VendorRevocation }>;
  /** With `VENDORS`: ends the sign-ins of the user at the pages of links, and the pages that wait. */
  endPages?(user: string): Promise<void>;
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
    print(
      `${statusOf(link).padEnd(WIDTH)}  ${printable(link.vendor)}  ${printable(link.user)}${signInOf(link, links)}`,
    );
  }
  const where = links.several === undefined ? "" : ` Users sign in at ${links.vendor.name}.`;
  print((count === 0 ? "No links." : `${count} ${count === 1 ? "link" : "links"}.`) + where);
  return 0;
}

/** A foreign row, made under another sign-in vendor, is not a link of the user with that name. */
function statusOf(link: Link): string {
  return link.foreign === true ? "foreign" : STATUS[link.status];
}

function signInOf({ vendor, signIn }: Link, { several }: OperatorLinks): string {
  if (several === undefined) return "";
  return `  signed in at ${signIn === undefined ? printable(vendor) : `${printable(signIn.vendor)}, ${printable(signIn.issuer)}`}`;
}

/**
 * Sessions first: a client that comes in the meantime must find that its session has ended.
 *
 * @returns the exit code
 */
//= bar#RV-1
export async function revokeLink(user: string, links: OperatorLinks, output: Output): Promise<number> {
  const { print, say } = output;
  const { vendor } = links;
  const linked = (await linksOf(user, links)).filter((link) => link.vendor === vendor.id);
  const ended = await endSessions(user, links, output);
  for (const link of linked) if (link.foreign === true) say(whyForeign(link));
  if (linked.every(({ foreign }) => foreign === true)) {
    if (ended === 0)
      print(`${printable(user)} has no link to ${vendor.name} and no session: links list names those who do.`);
    // What was asked for is so: a second run is not a failure.
    return 0;
  }
  const { vendor: revocation } = await links.endLink(user);
  print(`The link to ${vendor.name} is removed here.`);
  return printRevocation(revocation, vendor, output);
}

/**
 * Says also what was not found: a writer of the table may have removed it.
 *
 * @returns how many were live
 */
//= bar#RV-1
export async function endSessions(user: string, links: OperatorLinks, { print }: Output): Promise<number> {
  const { ended, hasIndex } = await links.endSessions(user);
  if (ended > 0) print(`${ended} ${ended === 1 ? "session" : "sessions"} ended.`);
  else if (hasIndex) print(`The list of sessions of ${printable(user)} names none that is live.`);
  else
    print(
      `There is no list of sessions of ${printable(user)}. A session in no list is not refreshed: ${UNLISTED_END}.`,
    );
  return ended;
}

const UNLISTED_END = `it ends within ${ACCESS_TOKEN_LIFETIME_SECONDS / 60} minutes, with its access token`;

/** @returns the exit code */
export function printRevocation(
  revocation: VendorRevocation | undefined,
  vendor: OperatorVendor,
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

export async function linksOf(user: string, links: OperatorLinks): Promise<Link[]> {
  const found: Link[] = [];
  for await (const link of links.list(user)) found.push(link);
  return found;
}

/** Why a foreign row is left: it is of another user with the same name. */
export function whyForeign({ vendor, signIn }: Link): string {
  const where = signIn === undefined ? printable(vendor) : printable(signIn.vendor);
  return `The link to ${printable(vendor)} is left: it is of a user who signed in at ${where}.`;
}

/** Names come from the vendor and are printed on a terminal. */
export function printable(name: string): string {
  return name.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "?");
}
