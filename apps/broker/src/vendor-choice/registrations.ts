/**
 * Which clients share the broker's registrations at vendors. A vendor sees only the registration
 * and may not ask a user for consent twice. A client could therefore lead the users of another
 * client through the registration and receive their tokens. Within one owner that loses nothing.
 * Between owners, the user sees which client asks before the browser leaves for the vendor
 * (needsOwnerPage). A client id is public, so a client that sends the broker's client id as its
 * own credentials shares the registration too (docs/decisions/0029). Computed once: app.ts uses it
 * for the flows, config/warnings.ts for the warnings at start.
 */
import { hash } from "node:crypto";
import { OAuthError } from "@oauth-broker/oauth-core";
import { isSameText } from "@oauth-broker/oauth-core/protocol";
import { oncePerObject, type Vendor, type VendorCredentials } from "@oauth-broker/oauth-core/registry";
import type { ClientConfig, VendorConfig } from "../config-types.ts";

/** The broker's registration at one vendor, under one of its client ids there. */
export interface Registration {
  readonly vendorId: string;
  /** The origins the entry states: of its issuer, authorization endpoint and token endpoint. */
  readonly origins: readonly string[];
  /** Of each of its credentials with this client id: its secret's SHA-256, none for a public client. */
  readonly secrets: readonly (string | undefined)[];
  /**
   * The first client of each owner whose clients may start flows at the entry. All clients without
   * an owner count as one owner.
   */
  readonly owners: ReadonlyMap<string | undefined, number>;
}

/** By folded client id. */
export type Registrations = ReadonlyMap<string, readonly Registration[]>;

/**
 * Every credential the broker holds is included, including retired ones and those of disabled
 * entries, because users have consented to them.
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
    const origins = originsOf(entry.vendor);
    const byId = Map.groupBy(entry.credentials, ({ clientId }) => foldClientId(clientId));
    for (const [key, credentials] of byId) {
      const registration = { vendorId, origins, secrets: credentials.map(secretOf), owners };
      index.set(key, [...(index.get(key) ?? []), registration]);
    }
  }
  return index;
}

/**
 * Refuses a client id of the broker at a vendor that the caller names: codes issued to the broker's
 * client would be sent there. Checked for every vendor, regardless of its origin, because a vendor
 * can answer under more names than its entry knows. At tier 1, where codes go to the vendor itself,
 * the user is asked instead (needsOwnerPage).
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
 * use, the asking client included. A server answers under more names than its entry has, so the
 * origin does not decide: a client id that a client sends is the broker's at every vendor, and
 * credentials of the broker are one registration wherever their secret is not another.
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
    readonly credentials: Pick<VendorCredentials, "clientId" | "clientSecret" | "source">;
  },
  { owner }: Pick<ClientConfig, "owner">,
  registrations: Registrations,
): boolean {
  const held = registrations.get(foldClientId(credentials.clientId)) ?? [];
  const others = held.filter(({ owners }) => owners.size > (owners.has(owner) ? 1 : 0));
  if (others.length === 0) return false;
  const origins = [...originsOf(vendor), ...(entry === undefined ? [] : originsOf(entry.vendor))];
  return others.some(
    (one) => credentials.source === "byoc" || isAt(one, origins) || isSameClient(one, secretOf(credentials)),
  );
}

/**
 * The page binds the browser it is shown to, and so does the flow that it approves: a client that
 * vouches for the browser itself could show the page in its own, and send on a user who was never
 * asked.
 *
 * @throws OAuthError unauthorized_client
 */
export function requireBrowserBinding(
  choice: Parameters<typeof needsOwnerPage>[0],
  client: Pick<ClientConfig, "owner" | "browserBinding">,
  registrations: Registrations,
): void {
  //= bar#XA-9
  if (client.browserBinding !== "platform" || !needsOwnerPage(choice, client, registrations)) return;
  throw new OAuthError(
    "unauthorized_client",
    "Clients of several owners share this vendor client, so users are shown a page that binds their browser. A client with browser_binding: platform cannot use it",
    { reason: "browser_binding" },
  );
}

/**
 * Vendors compare client ids more loosely than the broker does: case, white space, and the braces
 * and dashes of a UUID make no difference.
 */
export function foldClientId(clientId: string): string {
  if (/^[a-z0-9]*$/.test(clientId)) return clientId;
  return clientId
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, "");
}

type Endpoints = Pick<Vendor, "issuer" | "authorizationEndpoint" | "tokenEndpoint">;

/** Asked for in every flow, of vendors that live as long as the configuration. */
export const originsOf: (vendor: Endpoints) => readonly string[] = oncePerObject((vendor) => {
  const { issuer, authorizationEndpoint, tokenEndpoint } = vendor;
  const origins = [issuer, authorizationEndpoint, tokenEndpoint].map((url) => URL.parse(url ?? "")?.origin);
  return origins.filter((origin) => origin !== undefined);
});

export function isAt({ origins }: Pick<Registration, "origins">, others: readonly string[]): boolean {
  return origins.some((origin) => others.includes(origin));
}

/**
 * Two servers may have given out one id, but not one secret; without a secret nothing distinguishes
 * them.
 */
export function isSameClient({ secrets }: Pick<Registration, "secrets">, secret: string | undefined): boolean {
  return secrets.some((known) => known === undefined || secret === undefined || isSameText(known, secret));
}

export function secretOf({ clientSecret }: Pick<VendorCredentials, "clientSecret">): string | undefined {
  return clientSecret === undefined ? undefined : hash("sha256", clientSecret.reveal(), "base64url");
}

function ownersAt(entry: VendorConfig, clients: readonly ClientConfig[]): Map<string | undefined, number> {
  const owners = new Map<string | undefined, number>();
  for (const [index, client] of clients.entries()) {
    if (!owners.has(client.owner) && mayStart(client, entry)) owners.set(client.owner, index);
  }
  return owners;
}

export function mayStart({ vendors, approvedVendors }: ClientConfig, { vendor, setup }: VendorConfig): boolean {
  if (vendors !== undefined && !vendors.includes(vendor.id)) return false;
  return setup !== "vendor_approval" || approvedVendors.includes(vendor.id);
}
