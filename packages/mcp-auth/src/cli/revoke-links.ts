/**
 * `links revoke`: how the operator ends all links of a user, or one of several. Text for a reader.
 */
import type { Link } from "@oauth-broker/token-store";
import { type Output, printable, USAGE_EXIT_CODE } from "@oauth-broker/oauth-core/command-line";
import type { VendorRevocation } from "../hosted/links/link.ts";
import { ACCESS_TOKEN_LIFETIME_SECONDS } from "../hosted/sessions/record.ts";
import { type Command, TOO_MANY_WORDS } from "./arguments.ts";
import type { OperatorLinks, OperatorVendor } from "./links.ts";

/** @returns the exit code */
export async function revokeLinks(
  { user, vendor }: Extract<Command, { readonly name: "links revoke" }>,
  links: OperatorLinks,
  output: Output,
): Promise<number> {
  if (vendor === undefined) return revokeUser(user, links, output);
  if (links.signIn !== undefined) return revokeLinkAt(user, vendor, links, output);
  output.say(TOO_MANY_WORDS);
  return USAGE_EXIT_CODE;
}

/**
 * Ends all that a user has. Sessions first: a client that comes in the meantime must find that its
 * session has ended. With `VENDORS` then the pages, and a vendor without a link is ended too, so that
 * a page that was open before cannot link it.
 *
 * @returns the exit code: 0 also if there was nothing, so that a second run is not a failure
 */
//= bar#RV-1
async function revokeUser(user: string, links: OperatorLinks, output: Output): Promise<number> {
  const { vendors, signIn } = links;
  const ids = [...vendors.values()].map(({ id }) => id);
  const found = await linksOf(user, links);
  const linked = signIn === undefined ? found.filter(({ vendor }) => ids.includes(vendor)) : found;
  const ended = await endSessions(user, links, output);
  if (signIn !== undefined) await links.endPages(user);
  let exitCode = 0;
  for (const [id, vendor] of vendors) {
    const isLinked = linked.some((link) => link.vendor === vendor.id && link.foreign !== true);
    if (!isLinked && signIn === undefined) continue;
    exitCode = Math.max(exitCode, await end(user, [id, vendor], isLinked, links, output));
  }
  const left = linked.filter((link) => link.foreign === true || !ids.includes(link.vendor));
  for (const link of left) output.say(whyLeft(link));
  if (linked.every(({ foreign }) => foreign === true) && ended === 0)
    output.print(`${printable(user)} has no link and no session: links list names those who do.`);
  return left.some(({ foreign }) => foreign !== true) ? 1 : exitCode;
}

/**
 * Ends one link; the sessions stay.
 *
 * @param vendor its id as listed, or as in the rows
 * @returns the exit code
 */
//= bar#RV-1
async function revokeLinkAt(user: string, vendor: string, links: OperatorLinks, output: Output): Promise<number> {
  const listing = [...links.vendors];
  const found = listing.find(([id, one]) => id === vendor || one.id === vendor);
  if (found === undefined) {
    output.say(`${printable(vendor)} is not one of VENDORS: ${listing.map(([id]) => id).join(", ")}.`);
    return 1;
  }
  const [, listed] = found;
  const linked = (await linksOf(user, links)).filter((link) => link.vendor === listed.id);
  for (const link of linked) if (link.foreign === true) output.say(whyLeft(link));
  const isLinked = linked.some(({ foreign }) => foreign !== true);
  const exitCode = await end(user, found, isLinked, links, output);
  if (!isLinked) output.print(`${printable(user)} has no link to ${listed.name}.`);
  return exitCode;
}

async function end(
  user: string,
  [id, vendor]: readonly [listed: string, OperatorVendor],
  isLinked: boolean,
  links: OperatorLinks,
  output: Output,
): Promise<number> {
  const { vendor: revocation } = await links.endLink(user, id);
  if (!isLinked && revocation === undefined) return 0;
  output.print(`The link to ${vendor.name} is removed here.`);
  return printRevocation(revocation, vendor, output);
}

/** A foreign row is of another user with the same name. */
function whyLeft({ vendor, signIn, foreign }: Link): string {
  const why =
    foreign === true
      ? `it is of a user who signed in at ${printable(signIn?.vendor ?? vendor)}`
      : "it is not one of VENDORS";
  return `The link to ${printable(vendor)} is left: ${why}.`;
}

/**
 * Says also what was not found: a writer of the table may have removed it.
 *
 * @returns how many were live
 */
//= bar#RV-1
async function endSessions(user: string, links: OperatorLinks, { print }: Output): Promise<number> {
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
function printRevocation(
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

async function linksOf(user: string, links: OperatorLinks): Promise<Link[]> {
  const found: Link[] = [];
  for await (const link of links.list(user)) found.push(link);
  return found;
}
