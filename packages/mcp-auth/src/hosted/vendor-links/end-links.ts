/** The end of a user's links by the operator or with the last session, with several vendors. */
import type { Link } from "@oauth-broker/token-store";
import type { HostedSettings } from "../../settings.ts";
import { createSignIns, type SignInsDeps } from "../linking/sign-ins.ts";
import { identitySource } from "./identity-source.ts";
import { atVendor, endLinkOver, type EndedLink, linkKey, type LinkDeps } from "./link.ts";

export type EndLinksDeps = Omit<LinkDeps, "settings" | "signInSource"> & {
  readonly settings: Pick<HostedSettings, "vendor" | "linking">;
};

export interface EndedVendorLink extends EndedLink {
  /** The vendor as the row names it. */
  readonly vendorId: string;
  /** Made under another sign-in. */
  readonly foreign: boolean;
  /** Not a vendor of this server any more: removed here, not revoked there. */
  readonly isUnlisted: boolean;
}

/**
 * Ends every link of a user, those made under another sign-in too: here at once, then at its vendor
 * as far as possible. Flows and refreshes that began before store nothing.
 */
export async function endLinks(user: string, deps: EndLinksDeps): Promise<readonly EndedVendorLink[]> {
  const ended: EndedVendorLink[] = [];
  for await (const link of deps.tokens.links(user, identitySource(deps.settings))) {
    ended.push(await endRow(link, deps));
  }
  return ended;
}

/**
 * Ends the link at one vendor, and what began before and would store one.
 *
 * @param id as `VENDORS` lists it
 * @returns undefined when there was no link
 */
export async function endLinkAt(user: string, id: string, deps: EndLinksDeps): Promise<EndedVendorLink | undefined> {
  const at = atVendor(id, deps);
  const key = linkKey(user, at);
  for await (const link of deps.tokens.links(user, key.signIn)) {
    if (link.vendor === key.vendor) return endRow(link, deps);
  }
  await endLinkOver(key, undefined, at);
  return undefined;
}

/** Ends the user's sign-ins in every browser. Tickets end with the sessions that asked. */
export async function endSignIns(user: string, deps: SignInsDeps): Promise<void> {
  await createSignIns(deps).endAll(user);
}

async function endRow({ user, vendor, signIn, ...link }: Link, deps: EndLinksDeps): Promise<EndedVendorLink> {
  const foreign = link.foreign === true;
  const listed = [...(deps.settings.linking?.vendors ?? [])].find(([, at]) => at.vendor.id === vendor)?.[0];
  if (listed === undefined) {
    await deps.tokens.delete({ user, vendor });
    return { vendorId: vendor, foreign, isUnlisted: true };
  }
  const at = atVendor(listed, deps);
  const own = linkKey(user, at);
  const ofRow = { ...own, signIn: signIn ?? { vendor, issuer: own.issuer } };
  const ended = await endLinkOver(foreign ? ofRow : own, undefined, at);
  return { ...ended, vendorId: vendor, foreign, isUnlisted: false };
}
