/**
 * Which clients share the broker's registrations at vendors. A vendor knows only the registration
 * and may not ask a user for consent twice. A client could therefore lead the users of another
 * client through the registration and receive their tokens. Within one owner that loses nothing.
 * Between owners, the user sees which client asks before the browser leaves for the vendor
 * (needsOwnerPage). A client id is public, so a client that sends the broker's client id as its
 * own credentials shares the registration too (docs/decisions/0029). Computed once: app.ts uses it
 * for the flows, config/warnings.ts for the warnings at start.
 */
import { OAuthError } from "@oauth-broker/oauth-core";
import { namesInHost } from "@oauth-broker/oauth-core/client";
import type { Vendor, VendorCredentials } from "@oauth-broker/oauth-core/registry";
import type { ClientConfig, VendorConfig } from "../config/types.ts";

/** The broker's registration at one vendor, under one of its client ids there. */
export interface Registration {
  readonly vendorId: string;
  /** The origins the entry states: of its issuer, authorization endpoint and token endpoint. */
  readonly origins: readonly string[];
  /**
   * The vendor has further origins: discovery supplies an endpoint, live metadata decides them, or a
   * host contains a placeholder.
   */
  readonly isOpen: boolean;
  /**
   * The first client of each owner whose clients may start flows at the entry. All clients without
   * an owner count as one owner.
   */
  readonly owners: ReadonlyMap<string | undefined, number>;
}

/** By folded client id. */
export type Registrations = ReadonlyMap<string, readonly Registration[]>;

/**
 * Every credential the broker holds counts, including retired ones and those of disabled entries,
 * because users have consented to them.
 */
//= bar#XA-9
export function indexRegistrations(
  clients: readonly ClientConfig[],
  vendors: ReadonlyMap<string, VendorConfig>,
): Registrations {
  const index = new Map<string, Registration[]>();
  // A vendor that no client names, and that needs no approval, is open to the same clients as any
  // other such vendor.
  const named = new Set(clients.flatMap((client) => client.vendors ?? []));
  let everywhere: Registration["owners"] | undefined;
  for (const [vendorId, entry] of vendors) {
    if (entry.credentials.length === 0) continue;
    const isSpecial = named.has(entry.vendor.id) || entry.setup === "vendor_approval";
    const owners = isSpecial ? ownersAt(entry, clients) : (everywhere ??= ownersAt(entry, clients));
    const registration = { vendorId, origins: originsOf(entry.vendor), isOpen: isOpen(entry.vendor), owners };
    for (const key of new Set(entry.credentials.map(({ clientId }) => foldClientId(clientId)))) {
      index.set(key, [...(index.get(key) ?? []), registration]);
    }
  }
  return index;
}

/**
 * Refuses a client id of the broker at a vendor that the caller names: codes issued to the broker's
 * client would be sent there. Checked for every vendor, whatever its origin, because a vendor can
 * answer under more names than its entry knows. At tier 1, where codes go to the vendor itself, the
 * user is asked instead (needsOwnerPage).
 *
 * @throws OAuthError unauthorized_client when the broker holds credentials with this client id,
 *   active or retired, at any vendor
 */
//= bar#XA-4
export function requireForeignClient(
  { clientId }: Pick<VendorCredentials, "clientId">,
  registrations: Registrations,
): void {
  if (!registrations.has(foldClientId(clientId))) return;
  throw new OAuthError(
    "unauthorized_client",
    "This vendor client is the broker's own: name the vendor by its id alone, or send a vendor_client_id of your own",
    { reason: "override_not_allowed" },
  );
}

/**
 * Whether the vendor sees this flow as a registration of the broker that clients of several owners
 * use, the asking client included. It does not matter who brought the client id. For credentials of
 * the client's own it is enough that the entry leaves its origins open.
 */
//= bar#XA-9
export function needsOwnerPage(
  {
    vendor,
    entry,
    credentials,
  }: {
    readonly vendor: Vendor;
    readonly entry: VendorConfig | undefined;
    readonly credentials: Pick<VendorCredentials, "clientId" | "source">;
  },
  { owner }: Pick<ClientConfig, "owner">,
  registrations: Registrations,
): boolean {
  const held = registrations.get(foldClientId(credentials.clientId));
  if (held === undefined) return false;
  const origins = [...originsOf(vendor), ...(entry === undefined ? [] : originsOf(entry.vendor))];
  const same = held.filter((one) => isAt(one, origins) || (one.isOpen && credentials.source === "byoc"));
  return same.length > 0 && new Set([owner, ...same.flatMap(({ owners }) => [...owners.keys()])]).size > 1;
}

/**
 * Vendors compare client ids more loosely than the broker does: case, white space, and the braces
 * and dashes of a UUID make no difference.
 */
export function foldClientId(clientId: string): string {
  return clientId
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, "");
}

type Endpoints = Pick<Vendor, "issuer" | "authorizationEndpoint" | "tokenEndpoint">;

/** Asked for in every flow, of vendors that live as long as the configuration. */
const ORIGINS = new WeakMap<Endpoints, readonly string[]>();

export function originsOf(vendor: Endpoints): readonly string[] {
  const known = ORIGINS.get(vendor);
  if (known !== undefined) return known;
  const { issuer, authorizationEndpoint, tokenEndpoint } = vendor;
  const origins = [issuer, authorizationEndpoint, tokenEndpoint].map((url) => URL.parse(url ?? "")?.origin);
  const made = origins.filter((origin) => origin !== undefined);
  ORIGINS.set(vendor, made);
  return made;
}

export function isAt({ origins }: Pick<Registration, "origins">, others: readonly string[]): boolean {
  return origins.some((origin) => others.includes(origin));
}

function isOpen({ endpointsFrom, authorizationEndpoint, tokenEndpoint }: Vendor): boolean {
  if (endpointsFrom !== undefined) return true;
  return [authorizationEndpoint, tokenEndpoint].some((url) => url === undefined || namesInHost(url).length > 0);
}

function ownersAt(entry: VendorConfig, clients: readonly ClientConfig[]): Map<string | undefined, number> {
  const owners = new Map<string | undefined, number>();
  for (const [index, client] of clients.entries()) {
    if (!owners.has(client.owner) && mayStart(client, entry)) owners.set(client.owner, index);
  }
  return owners;
}

function mayStart({ vendors, approvedVendors }: ClientConfig, { vendor, setup }: VendorConfig): boolean {
  if (vendors !== undefined && !vendors.includes(vendor.id)) return false;
  return setup !== "vendor_approval" || approvedVendors.includes(vendor.id);
}
