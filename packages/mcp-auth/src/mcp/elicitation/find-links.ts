/**
 * Whether the user has linked what a tool names, and what to ask for if not. Asked for is at
 * most what the deployment, the session and the tool's own list all have, with what the link has.
 */
import type { CallerLinks, LinkRequest, UserLink } from "../../mode.ts";
import type { NeedsScope } from "../../tool.ts";
import type { NamedVendor } from "../tools/tool-vendors.ts";
import type { ElicitationDeps } from "./deps.ts";
import type { AskedTicket } from "./request-state.ts";

export type UsableLink = Extract<UserLink, { readonly state: "usable" }>;

/** What is between a call and its vendors. */
export interface FoundLinks {
  /** By the vendor's id. */
  readonly usable: ReadonlyMap<string, UsableLink>;
  readonly requests: readonly AskedLink[];
  /** The user was asked for these before and did not grant them. */
  readonly notGranted: readonly LinkRequest[];
}

/** A question, and whether the link had it all when it was asked. */
export type AskedLink = LinkRequest & Pick<AskedTicket, "isRepeated">;

/** @param open tickets of this call whose page is open: what was repeated is asked for again */
export async function findLinks(
  named: readonly NamedVendor[],
  open: readonly AskedTicket[],
  links: CallerLinks,
  deps: Pick<ElicitationDeps, "vendors">,
): Promise<FoundLinks> {
  const usable = new Map<string, UsableLink>();
  const requests: AskedLink[] = [];
  const notGranted: LinkRequest[] = [];
  const isRepeated = (id: string): boolean => open.some((ticket) => ticket.vendor === id && ticket.isRepeated);
  const read = await Promise.all(named.map(async (vendor) => ({ vendor, link: await links.read(vendor.id) })));
  for (const { vendor, link } of read) {
    const lacking = lackingIn(link, vendor.scopes ?? []);
    const refused = link.state === "usable" ? lacking.filter((scope) => link.notGranted.includes(scope)) : [];
    if (refused.length > 0) notGranted.push({ vendor: vendor.id, scopes: refused });
    else if (link.state !== "usable" || lacking.length > 0 || isRepeated(vendor.id))
      requests.push({
        ...requestFor(vendor, link, askableAt(vendor, links, deps)),
        isRepeated: isRepeated(vendor.id),
      });
    else usable.set(vendor.id, link);
  }
  return { usable, requests, notGranted };
}

/** A link of unknown scope may have all: the vendor's API decides. */
function lackingIn(link: UserLink, scopes: readonly string[]): readonly string[] {
  if (link.state !== "usable" || link.scope === undefined) return [];
  const { scope } = link;
  return scopes.filter((token) => !scope.includes(token));
}

/** @param askable what may be asked for beyond what the link has */
function requestFor({ id }: NamedVendor, link: UserLink, askable: readonly string[]): LinkRequest {
  const linked = link.state === "missing" ? [] : (link.scope ?? []);
  return { vendor: id, scopes: [...new Set([...linked, ...askable])] };
}

/** @returns the most a call of this tool may ask for at the vendor */
export function askableAt(
  { id, scopes = [] }: NamedVendor,
  links: Pick<CallerLinks, "sessionScope">,
  { vendors }: Pick<ElicitationDeps, "vendors">,
): readonly string[] {
  const session = links.sessionScope(id);
  const configured = vendors.get(id)?.scopes ?? [];
  return scopes.filter((scope) => session.includes(scope) && configured.includes(scope));
}

/**
 * After the vendor has refused a call for lack of scopes.
 *
 * @returns what to ask; undefined when that may not be asked for here
 */
export async function findLacking(
  { vendor: name, scopes }: Pick<NeedsScope, "vendor" | "scopes">,
  named: readonly NamedVendor[],
  links: CallerLinks,
  deps: Pick<ElicitationDeps, "vendors">,
): Promise<Pick<FoundLinks, "requests" | "notGranted"> | undefined> {
  const vendor = named.find((one) => one.name === name || one.id === name);
  if (vendor === undefined || scopes.length === 0) return undefined;
  const permitted = askableAt(vendor, links, deps);
  if (!scopes.every((scope) => permitted.includes(scope))) return undefined;
  const link = await links.read(vendor.id);
  const lacking = lackingIn(link, scopes);
  const isRepeated = link.state === "usable" && lacking.length === 0;
  const asked = { requests: [{ ...requestFor(vendor, link, permitted), isRepeated }], notGranted: [] };
  if (link.state !== "usable") return asked;
  const refused = lacking.filter((scope) => link.notGranted.includes(scope));
  // The vendor says that the link lacks what it was granted with: asked for once more.
  for (const scope of scopes) {
    if (!lacking.includes(scope) && !(await link.lacks(scope))) refused.push(scope);
  }
  return refused.length === 0 ? asked : { requests: [], notGranted: [{ vendor: vendor.id, scopes: refused }] };
}
