/**
 * Warnings at start about settings that are allowed but risky: the deployment, vendors whose
 * answers carry no `iss`, credentials that owners share. Whole sentences without any secret. Called
 * by build.ts. The warnings about one client or one vendor are made when it is built.
 */
import { statSync } from "node:fs";
import { isLoopbackName } from "@oauth-broker/service/configuration";
import { addressOf, TOKEN_ENDPOINT_FIELDS, urlsThatEnd } from "@oauth-broker/oauth-core/registry";
import { formatPath } from "./problems.ts";
import type { ParsedConfiguration } from "./schema/configuration.ts";
import type { ClientConfig, Config, VendorConfig } from "../config-types.ts";
import { keyFileOf } from "./store-and-keys.ts";
import { choosesDomain } from "./vendors/placeholders.ts";
import {
  foldClientId,
  isAt,
  isSameClient,
  mayStart,
  originsOf,
  type Registrations,
  secretOf,
} from "../vendor-choice/registrations.ts";
import { vouchedSpecs } from "../vendor-choice/tenants.ts";

export function deploymentWarnings(
  { baseUrl, egress, keysMinRevision: minimum }: ParsedConfiguration,
  { store, keys, audit }: Pick<Config, "store" | "keys" | "audit">,
): string[] {
  const keyFile = keyFileOf({ store, keys });
  const warnings = {
    "egress.allow_loopback is on although base_url is public: requests may name endpoints on this machine":
      egress.allowLoopback && !isLoopbackName(new URL(baseUrl).hostname),
    "egress.allow_cidrs holds a network of every address: name the private networks you mean": egress.allowCidrs.some(
      (cidr) => cidr.endsWith("/0"),
    ),
    "store is memory: flows under way and the broker's keys are lost at every restart": store.kind === "memory",
    "store speaks http to a DynamoDB on this machine: that is for tests":
      store.kind === "dynamodb" && store.endpoint?.startsWith("http:") === true,
    "keys_min_revision is not set: after a restart the broker accepts an older keyset that was put back into the table, which undoes a rotation, and makes a new one where the keyset is gone, which ends every connection. `main.js keys list` prints the line to set":
      store.kind === "dynamodb" && keys.kind === "kms" && minimum === undefined,
    [`The keys in ${keyFile} can be read or changed by others on this machine: chmod 600`]:
      keyFile !== undefined && isOpenToOthers(keyFile, 0o077),
    [`The audit stream in ${audit.kind === "file" ? audit.path : ""} can be changed by others on this machine: chmod go-w`]:
      audit.kind === "file" && isOpenToOthers(audit.path, 0o022),
  };
  return Object.entries(warnings).flatMap(([warning, isDue]) => (isDue ? [warning] : []));
}

/**
 * A file that does not exist yet is created with mode 0600. Why one cannot be reached, the store says
 * when it opens it.
 */
function isOpenToOthers(path: string, permissions: number): boolean {
  try {
    return process.platform !== "win32" && (statSync(path).mode & permissions) !== 0;
  } catch {
    return false;
  }
}

/**
 * Vendors that share one callback path and whose answers do not name them. A malicious or
 * compromised vendor among them can send its users on to another vendor and receive the codes that
 * the other vendor issues (rfc9700#4.4). Registry vendors without `iss` are the normal case, so the
 * warning covers only the operator's own vendor beside any other.
 *
 * @param own ids of vendors that the registry does not know, or whose issuer or endpoints the
 *   operator has written
 * @returns one line for each vendor that could do it
 */
export function mixUpWarnings(vendors: ReadonlyMap<string, VendorConfig>, own: ReadonlySet<string>): string[] {
  const silent = [...vendors]
    .filter(([, entry]) => usesSharedPath(entry) && entry.vendor.issRequired !== true)
    .map(([id, { vendor }]) => ({ id, vendor, origins: originsOf(vendor) }));
  const elsewhere = new Map<string, readonly string[]>();
  return silent.flatMap(({ id, vendor, origins }) => {
    if (!own.has(id) || !vendor.acceptsNewAuthorizations) return [];
    // Many vendors may be at one origin: the others are the same for all of them.
    const at = origins.join(" ");
    const others = elsewhere.get(at) ?? silent.filter((other) => !isAt(other, origins)).map((other) => other.id);
    elsewhere.set(at, others);
    if (others.length === 0) return [];
    return [
      `Vendor ${id} is one of your own and shares the callback with ${others.join(", ")}, and their answers need not carry iss: if this vendor is malicious, it can obtain codes that those vendors issue to its users. Set iss_required: true where its answers carry iss; otherwise keep it only if you trust it as much as them`,
    ];
  });
}

/**
 * Vendors with credentials of the broker: its client is registered there with the shared callback,
 * and users have consented to it.
 */
function usesSharedPath(entry: VendorConfig): boolean {
  const { vendor, credentials } = entry;
  return vendor.enabled && credentials.length > 0 && !choosesDomain(vendor, vouchedSpecs(entry));
}

/**
 * What the vendors with credentials of the broker end on an announced day, as far as their entry
 * uses it: the same before and after that day.
 */
export function sunsetWarnings(vendors: ReadonlyMap<string, VendorConfig>): string[] {
  return [...vendors].flatMap(([id, { vendor, sunsets = [], credentials }]) => {
    if (!vendor.enabled || credentials.length === 0) return [];
    return sunsets.flatMap((sunset) => {
      const { endsOn, what, urls, source } = sunset;
      const day = `Vendor ${id} ends ${what} on ${endsOn} (${source}): `;
      if (urls === undefined) return [`${day}connections that have such a token must be made anew`];
      const starting = urlsThatEnd([vendor.authorizationEndpoint, vendor.tokenEndpoint], sunset);
      if (starting.length > 0) {
        return [
          `${day}from then on the broker starts no new flow at ${starting.join(" and ")}; refresh and revoke go on`,
        ];
      }
      const others = TOKEN_ENDPOINT_FIELDS.map((name) => addressOf(vendor, name));
      const ending = urlsThatEnd(others, sunset);
      return ending.length === 0 ? [] : [`${day}${ending.join(" and ")} is no longer there from then on`];
    });
  });
}

/** One warning for each registration whose new flows show the owner page. */
export function sharingWarnings(
  vendors: ReadonlyMap<string, VendorConfig>,
  clients: readonly ClientConfig[],
  index: Registrations,
): string[] {
  const shared = new Map<string, { readonly vendorIds: string[]; readonly sharing: readonly number[] }>();
  for (const [vendorId, { vendor, credentials }] of vendors) {
    const [active] = credentials;
    if (active === undefined || !vendor.enabled || !vendor.acceptsNewAuthorizations) continue;
    const origins = originsOf(vendor);
    const all = index.get(foldClientId(active.clientId)) ?? [];
    const starts = all.some((one) => one.vendorId === vendorId && one.owners.size > 0);
    const same = all.filter((one) => isAt(one, origins) || isSameClient(one, secretOf(active)));
    const owners = new Map(same.flatMap((one) => [...one.owners]));
    if (!starts || owners.size < 2) continue;
    const sharing = [...owners.values()].toSorted((one, other) => one - other);
    const key = JSON.stringify([foldClientId(active.clientId), sharing]);
    shared.set(key, { vendorIds: [...(shared.get(key)?.vendorIds ?? []), vendorId], sharing });
  }
  return [...shared.values()].map(({ vendorIds, sharing }) => {
    const entries = vendorIds.flatMap((id) => vendors.get(id) ?? []);
    const isRefused = (client: ClientConfig): boolean =>
      client.browserBinding === "platform" && entries.some((entry) => mayStart(client, entry));
    const refused = clients.flatMap((client, index) => (isRefused(client) ? [index] : []));
    const binding =
      refused.length === 0
        ? ""
        : `. ${clientPaths(refused)} with browser_binding: platform cannot start flows there: /v1/par answers unauthorized_client`;
    return `${vendorIds.map((id) => formatPath(["vendors", id])).join(", ")}: clients of different owners (${clientPaths(sharing)}) share these credentials. Users see a page that names the client and the owner before they leave for the vendor, and the browser that approves has to come back with the flow's cookie${binding}. To avoid the page, limit \`vendors\` of each client, or give all clients one owner`;
  });
}

function clientPaths(indices: readonly number[]): string {
  return indices.map((index) => formatPath(["clients", index])).join(", ");
}
