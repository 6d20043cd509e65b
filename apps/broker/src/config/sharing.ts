/**
 * Who shares our registration at a vendor. The vendor knows only us and may ask a user nothing twice, so one client could
 * lead another's users through it and be given their tokens. Inside one owner that is nobody's loss; between owners the user
 * is told who asks before the browser leaves for the vendor: flows/owner-page.ts. Called by load.ts.
 */
import { entriesOf } from "./clients.ts";
import { formatPath } from "./problems.ts";
import type { Tree } from "./source.ts";
import type { VendorConfig } from "./types.ts";

type Entry = Readonly<Record<string, unknown>>;

export interface Sharing {
  /** Vendors whose credentials clients of different owners share, under whatever id. */
  readonly vendorIds: ReadonlySet<string>;
  readonly warnings: readonly string[];
}

/**
 * Clients without owner belong to one party, which has no name.
 *
 * @param vendors those that could be built, with the credentials of file or environment
 */
//= bar#XA-9
export function findSharing(tree: Tree, vendors: ReadonlyMap<string, VendorConfig>): Sharing {
  const clients = entriesOf(tree["clients"]);
  const approvals = new Map(entriesOf(tree["owners"]).map((owner) => [owner["id"], owner["approved_vendors"]]));
  const parties = new Map<string, { readonly vendorIds: string[]; readonly firstOf: Map<unknown, number> }>();
  for (const [vendorId, entry] of vendors) {
    const registration = registrationOf(entry);
    if (registration === undefined) continue;
    const party = parties.get(registration) ?? { vendorIds: [], firstOf: new Map<unknown, number>() };
    parties.set(registration, party);
    party.vendorIds.push(vendorId);
    for (const [index, client] of clients.entries()) {
      if (mayStart(client, entry, approvals) && !party.firstOf.has(client["owner"])) {
        party.firstOf.set(client["owner"], index);
      }
    }
  }
  const shared = [...parties.values()].filter(({ firstOf }) => firstOf.size > 1);
  return {
    vendorIds: new Set(shared.flatMap(({ vendorIds }) => vendorIds)),
    warnings: shared.map(
      ({ vendorIds, firstOf }) =>
        `${vendorIds.map((id) => formatPath(["vendors", id])).join(", ")}: clients of different owners (${[...firstOf.values()].map((index) => formatPath(["clients", index])).join(", ")}) share these credentials. Users see a page that names client and owner before they leave for the vendor; to go without it limit \`vendors\` of each client, or give all clients one owner`,
    ),
  };
}

/** What new flows are to the vendor: its users see no more of us than this, whatever id the entry has here. */
function registrationOf({ vendor, credentials: [active] }: VendorConfig): string | undefined {
  const { enabled, acceptsNewAuthorizations, authorizationEndpoint, issuer } = vendor;
  if (active === undefined || !enabled || !acceptsNewAuthorizations) return undefined;
  return JSON.stringify([URL.parse(authorizationEndpoint ?? issuer ?? "")?.origin, active.clientId]);
}

function mayStart(client: Entry, { vendor, setup }: VendorConfig, approvals: ReadonlyMap<unknown, unknown>): boolean {
  const { client_id: id, vendors, owner } = client;
  // No client at all: the schema has said so.
  if (id === undefined) return false;
  if (vendors !== undefined && !includes(vendors, vendor.id)) return false;
  const approved = owner === undefined ? client["approved_vendors"] : approvals.get(owner);
  return setup !== "vendor_approval" || includes(approved, vendor.id);
}

function includes(list: unknown, id: string): boolean {
  return Array.isArray(list) && list.includes(id);
}
