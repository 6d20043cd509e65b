/**
 * `links revoke` of a server with several vendors: a user altogether, or one link of that user.
 * Text for a reader.
 */
import type { Link } from "@oauth-broker/token-store";
import {
  endSessions,
  linksOf,
  type OperatorLinks,
  type OperatorVendor,
  type Output,
  printRevocation,
  printable,
  whyForeign,
} from "./links.ts";

/** With `VENDORS`. */
export type SeveralLinks = OperatorLinks & { readonly several: ReadonlyMap<string, OperatorVendor> };

/**
 * Ends all that a user has: the sessions first, as with one vendor, then the pages, then each link.
 * A vendor without a link is ended too, so that a page that was open before cannot link it.
 *
 * @returns the exit code
 */
//= bar#RV-1
export async function revokeUser(user: string, links: SeveralLinks, output: Output): Promise<number> {
  const { print, say } = output;
  const linked = await linksOf(user, links);
  const ended = await endSessions(user, links, output);
  await links.endPages?.(user);
  let exitCode = 0;
  for (const [id, vendor] of links.several) {
    const isLinked = linked.some((link) => link.vendor === vendor.id && link.foreign !== true);
    exitCode = Math.max(exitCode, await end(user, { id, vendor, isLinked }, links, output));
  }
  const ids = [...links.several.values()].map(({ id }) => id);
  const left = linked.filter((link) => link.foreign === true || !ids.includes(link.vendor));
  for (const link of left) say(whyLeft(link));
  if (linked.length === 0 && ended === 0)
    print(`${printable(user)} has no link and no session: links list names those who do.`);
  return left.some(({ foreign }) => foreign !== true) ? 1 : exitCode;
}

/**
 * Ends one link; the sessions stay.
 *
 * @param vendor its id as listed, or as in the rows
 * @returns the exit code
 */
//= bar#RV-1
export async function revokeLinkAt(user: string, vendor: string, links: SeveralLinks, output: Output): Promise<number> {
  const found = [...links.several].find(([id, one]) => id === vendor || one.id === vendor);
  if (found === undefined) {
    output.say(`${printable(vendor)} is not one of VENDORS: ${[...links.several.keys()].join(", ")}.`);
    return 1;
  }
  const [id, listed] = found;
  const linked = (await linksOf(user, links)).filter((link) => link.vendor === listed.id);
  for (const link of linked) if (link.foreign === true) output.say(whyLeft(link));
  const isLinked = linked.some(({ foreign }) => foreign !== true);
  const exitCode = await end(user, { id, vendor: listed, isLinked }, links, output);
  if (!isLinked) output.print(`${printable(user)} has no link to ${listed.name}.`);
  return exitCode;
}

interface Place {
  /** As listed. */
  readonly id: string;
  readonly vendor: OperatorVendor;
  readonly isLinked: boolean;
}

async function end(
  user: string,
  { id, vendor, isLinked }: Place,
  links: OperatorLinks,
  output: Output,
): Promise<number> {
  const { vendor: revocation } = await links.endLink(user, id);
  if (!isLinked && revocation === undefined) return 0;
  output.print(`The link to ${vendor.name} is removed here.`);
  return printRevocation(revocation, vendor, output);
}

function whyLeft(link: Link): string {
  return link.foreign === true
    ? whyForeign(link)
    : `The link to ${printable(link.vendor)} is left: it is not one of VENDORS.`;
}
