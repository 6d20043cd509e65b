/**
 * The endpoints of an MCP server by its live metadata (docs/decisions/0043). The server's own
 * document has to name the issuer that the entry pins; the issuer's document names the endpoints.
 * Where metadata decides, they are accepted at the vendor's own hosts alone; any other entry has to
 * have the same endpoints. Called by discover.ts.
 */
import { registrableDomainOf } from "../../protocol/public-suffix.ts";
import { createExpiringMap } from "../../mechanics/expiring-map.ts";
import type { JsonObject } from "../../ports.ts";
import { isOutage, OAuthError } from "../../protocol/errors.ts";
import { METADATA_FIELDS, type MetadataField } from "../../registry/fields.ts";
import { wireName } from "../../registry/fields/shape.ts";
import type { EndpointSource, Vendor } from "../../registry/vendor.ts";
import type { VendorClientDeps } from "../binding.ts";
import { type Deadline, VENDOR_OPERATION_SECONDS } from "../deadline.ts";
import { translateVendorError } from "../errors.ts";
import { createRefreshingCache, FRESH_SECONDS } from "./cache.ts";
import { findMetadata, loadDocument, requireEndpoint, type VendorMetadata } from "./document.ts";

/** The authorization server of an MCP server. */
export type McpVendor = Vendor & { readonly issuer: string; readonly serverUrl: string };

/** A vendor whose endpoints its live metadata decides. */
export type LiveVendor = McpVendor & { readonly endpointsFrom: EndpointSource };

export function isOfMcpServer(vendor: Vendor): vendor is McpVendor {
  return vendor.issuer !== undefined && vendor.serverUrl !== undefined;
}

export function isLive(vendor: Vendor): vendor is LiveVendor {
  return isOfMcpServer(vendor) && vendor.endpointsFrom !== undefined;
}

export interface LiveMetadata {
  /**
   * @returns for a vendor, its issuer's metadata; undefined when it cannot be reached and the entry
   *   says that the stored endpoints are used then
   * @throws OAuthError vendor_response_invalid, `issuer_mismatch` when the server or the document
   *   names another issuer; temporarily_unavailable when the metadata cannot be reached
   */
  readonly decide: (vendor: LiveVendor) => Promise<VendorMetadata | undefined>;
  /**
   * @param deadline until when this caller waits
   * @throws OAuthError as `decide`, for any entry
   */
  readonly read: (vendor: McpVendor, deadline: Deadline) => Promise<VendorMetadata>;
}

/** After a failure the stored endpoints are used without another attempt for this long. */
const STORED_SECONDS = 60;
const MAX_SERVERS = 256;

export function createLiveMetadata(deps: VendorClientDeps): LiveMetadata {
  const { now, onStoredEndpoints } = deps;
  const documents = createRefreshingCache<VendorMetadata>({
    load: async (key) => loadLive(key, deps),
    now,
  });
  const unreachable = createExpiringMap<true>(MAX_SERVERS, now);
  const reported = createExpiringMap<true>(MAX_SERVERS, now);

  const decide: LiveMetadata["decide"] = async (vendor) => {
    const key = keyOf(vendor);
    const isFallBack = vendor.endpointsFrom === "metadata, else stored";
    if (isFallBack && unreachable.get(key) === true) return undefined;
    try {
      return await documents.get(key);
    } catch (error) {
      // Metadata that was reached and is wrong is no reason to use other endpoints.
      //= bar#DI-1
      if (!isFallBack || !isOutage(error)) throw error;
      unreachable.set(key, true, now() + STORED_SECONDS);
      if (reported.get(key) === undefined) {
        reported.set(key, true, now() + FRESH_SECONDS);
        onStoredEndpoints?.(vendor);
      }
      return undefined;
    }
  };
  return { decide, read: (vendor, deadline) => documents.get(keyOf(vendor), deadline) };
}

/** A URL has no space. */
function keyOf({ issuer, serverUrl }: McpVendor): string {
  return `${issuer} ${serverUrl}`;
}

async function loadLive(key: string, deps: VendorClientDeps): Promise<VendorMetadata> {
  const [issuer = "", serverUrl = ""] = key.split(" ");
  const [server, metadata] = await Promise.allSettled([
    requireIssuerOfServer(serverUrl, issuer, deps),
    findMetadata(issuer, "oauth-authorization-server", deps),
  ]);
  // First: an outage of an issuer that the server has left must not lead to its stored endpoints.
  if (server.status === "rejected") throw server.reason;
  if (metadata.status === "rejected") throw metadata.reason;
  if (metadata.value !== undefined) return metadata.value;
  throw new OAuthError("temporarily_unavailable", "The vendor publishes no metadata", {
    detail: "discovery: no metadata in any of the well-known places",
  });
}

const RESOURCE = "/.well-known/oauth-protected-resource";

/**
 * The issuer is the entry's, even if the server names another: a server without a document about
 * itself changes nothing, and one that names other issuers has moved.
 *
 * @throws OAuthError vendor_response_invalid, `issuer_mismatch`
 */
//= rfc9728#3.3
async function requireIssuerOfServer(serverUrl: string, issuer: string, deps: VendorClientDeps): Promise<void> {
  const server = requireEndpoint(serverUrl, "server_url", deps);
  const path = server.pathname.replace(/\/$/, "");
  const signal = deps.timer.timeout(VENDOR_OPERATION_SECONDS * 1000);
  for (const place of path === "" ? [RESOURCE] : [RESOURCE + path, RESOURCE]) {
    const document = await loadDocument(server.origin + place, signal, deps).catch((error: unknown) => {
      const known = translateVendorError(error, { what: "discovery", spends: false });
      if (isOutage(known)) return "missing" as const;
      throw known;
    });
    if (typeof document === "string" || !describes(document, server)) continue;
    requireNamed(issuer, document);
    return;
  }
}

/** As MCP clients compare: the server's origin, and its path or one above it. */
function describes({ resource }: JsonObject, server: URL): boolean {
  const named = typeof resource === "string" ? URL.parse(resource) : null;
  const below = (url: URL): string => (url.pathname.endsWith("/") ? url.pathname : `${url.pathname}/`);
  return named !== null && named.origin === server.origin && below(server).startsWith(below(named));
}

/**
 * A slash at the end of a bare origin makes no difference here: the entry's spelling is compared
 * with the issuer's own document byte for byte.
 */
//= bar#DI-1
function requireNamed(issuer: string, { authorization_servers: named }: JsonObject): void {
  if (!Array.isArray(named) || named.length === 0) return;
  const { href } = new URL(issuer);
  //= bar#DI-1
  if (named.some((one) => typeof one === "string" && URL.parse(one)?.href === href)) return;
  throw new OAuthError("vendor_response_invalid", "authorization_servers of the MCP server names another issuer", {
    reason: "issuer_mismatch",
  });
}

/**
 * An MCP server that keeps the endpoints of its entry has the same endpoints in its metadata. One
 * that differs is not followed, and the stored one, which the vendor may have left, gets nothing
 * either. What the metadata leaves out, and what an operator names, is compared with nothing.
 *
 * @throws OAuthError vendor_response_invalid, `endpoint_mismatch`
 */
//= bar#BY-4
export function requireStoredEndpoints(vendor: Vendor, metadata: VendorMetadata): void {
  const { operatorsEndpoints = [] } = vendor;
  const own: readonly string[] = operatorsEndpoints;
  for (const field of METADATA_FIELDS.filter((name) => !own.includes(name))) {
    const { [field]: stored } = vendor;
    const { [field]: live } = metadata;
    if (stored === undefined || live === undefined || isSameAddress(stored, live)) continue;
    const name = wireName(field);
    throw new OAuthError(
      "vendor_response_invalid",
      `The vendor's metadata has another ${name} than the one known here`,
      {
        reason: "endpoint_mismatch",
        detail: `compare with the vendor's documentation, and state vendors.${vendor.id}.${name} if it has moved`,
      },
    );
  }
}

/** A template is filled before its address is used. */
function isSameAddress(stored: string, live: string): boolean {
  return stored.includes("{") || new URL(stored).href === new URL(live).href;
}

/** What a client sends codes, tokens or secrets to. Nothing of a user goes to `jwks_uri`. */
const RECIPIENTS: readonly MetadataField[] = METADATA_FIELDS.filter((name) => name !== "jwksUri");
/** Those of which a vendor may have none. */
const OPTIONAL: ReadonlySet<string> = new Set(RECIPIENTS.filter((name) => !isNeeded(name)));

function isNeeded(name: MetadataField): boolean {
  return name === "authorizationEndpoint" || name === "tokenEndpoint";
}

/**
 * The part of the metadata at hosts of the vendor: below the issuer's registrable domain, and the
 * hosts that the entry itself names. A further endpoint elsewhere is left out.
 *
 * @throws OAuthError vendor_response_invalid, `credential_binding_mismatch`, when the authorization
 *   or the token endpoint is elsewhere
 */
//= bar#BY-4
export function atHostsOf(vendor: LiveVendor, metadata: VendorMetadata): VendorMetadata {
  const isOwn = ownHosts(vendor);
  for (const field of RECIPIENTS.filter(isNeeded)) {
    const name = wireName(field);
    const { [field]: url } = metadata;
    if (url === undefined || isOwn(url)) continue;
    throw new OAuthError(
      "vendor_response_invalid",
      `The vendor's metadata has its ${name} at a host of another party`,
      {
        reason: "credential_binding_mismatch",
        detail: `state vendors.${vendor.id}.${name} if it is right`,
      },
    );
  }
  const kept = Object.entries(metadata).filter(
    ([name, url]) => !OPTIONAL.has(name) || (typeof url === "string" && isOwn(url)),
  );
  return Object.fromEntries(kept) as unknown as VendorMetadata;
}

function ownHosts(vendor: LiveVendor): (url: string) => boolean {
  const domain = registrableDomainOf(vendor.issuer);
  const stated = RECIPIENTS.flatMap((name) => URL.parse(vendor[name] ?? "")?.host ?? []);
  return (url) => registrableDomainOf(url) === domain || stated.includes(new URL(url).host);
}
