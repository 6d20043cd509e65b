/**
 * The live metadata of an MCP server, with which the endpoints of its entry are compared
 * (docs/decisions/0029). The server's own document has to name the issuer that the entry pins; the
 * issuer's document has to have the same endpoints. Called by discover.ts.
 */
import type { JsonObject } from "../../ports.ts";
import { isOutage, OAuthError } from "../../protocol/errors.ts";
import { METADATA_FIELDS } from "../../registry/fields.ts";
import { wireName } from "../../registry/fields/shape.ts";
import type { Vendor } from "../../registry/vendor.ts";
import type { VendorClientDeps } from "../binding.ts";
import { type Deadline, VENDOR_OPERATION_SECONDS } from "../deadline.ts";
import { translateVendorError } from "../errors.ts";
import { createRefreshingCache } from "./cache.ts";
import { findMetadata, loadDocument, requireEndpoint, type VendorMetadata } from "./document.ts";

/** The authorization server of an MCP server. */
export type McpVendor = Vendor & { readonly issuer: string; readonly serverUrl: string };

export function isOfMcpServer(vendor: Vendor): vendor is McpVendor {
  return vendor.issuer !== undefined && vendor.serverUrl !== undefined;
}

/**
 * Its issuer's metadata.
 *
 * @param deadline until when this caller waits
 * @throws OAuthError vendor_response_invalid, `issuer_mismatch` when the server or the document names
 *   another issuer; temporarily_unavailable when the metadata cannot be reached
 */
export type ReadLiveMetadata = (vendor: McpVendor, deadline: Deadline) => Promise<VendorMetadata>;

export function createLiveMetadata(deps: VendorClientDeps): ReadLiveMetadata {
  const documents = createRefreshingCache(async (key) => loadLive(key, deps), deps.now);
  // A URL has no space.
  return ({ issuer, serverUrl }, deadline) => documents.get(`${issuer} ${serverUrl}`, deadline);
}

async function loadLive(key: string, deps: VendorClientDeps): Promise<VendorMetadata> {
  const [issuer = "", serverUrl = ""] = key.split(" ");
  const [server, metadata] = await Promise.allSettled([
    requireIssuerOfServer(serverUrl, issuer, deps),
    findMetadata(issuer, "oauth-authorization-server", deps),
  ]);
  // First: an outage of an issuer that the server has left must not hide the move.
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
 * An MCP server has the endpoints of its entry in its metadata. One that differs is not followed, and
 * the stored one, which the vendor may have left, gets nothing either. What the metadata leaves out,
 * and what an operator names, is compared with nothing.
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
