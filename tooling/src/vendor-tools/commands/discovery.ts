/**
 * A vendor's metadata as its issuer publishes it: found and checked by the vendor client, and here
 * also as it was written, because it contains more than the vendor client uses. Used by new.ts and
 * probe-metadata.ts.
 */
import {
  type Clock,
  type Fetch,
  type JsonObject,
  OAuthError,
  parseJsonStrict,
  systemTimer,
} from "@oauth-broker/oauth-core";
import { createVendorClient } from "@oauth-broker/oauth-core/vendor-client";
import { defineVendor, type ResolvedVendor, type Vendor } from "@oauth-broker/oauth-core/registry";

export interface Discovered {
  readonly resolved: ResolvedVendor;
  readonly document: JsonObject;
  /** The URL it was found at. */
  readonly address: string;
}

export interface DiscoveryDeps {
  readonly fetch: Fetch;
  readonly now: Clock;
  readonly allowLoopback: boolean;
}

const OF_SERVER = "/.well-known/oauth-protected-resource";

/** @throws OAuthError vendor_response_invalid, temporarily_unavailable */
export async function discoverIssuer(issuer: string, deps: DiscoveryDeps): Promise<Discovered> {
  // Without a PKCE method: the document's own is compared later and is no reason to stop here.
  const vendor = defineVendor({ id: "discovered", name: "Discovered", issuer, pkce: "none" });
  let last: { readonly address: string; readonly text: string } | undefined;
  const remembering: Fetch = async (input, init) => {
    const response = await deps.fetch(input, init);
    if (response.status !== 200 || new URL(String(input)).pathname.startsWith(OF_SERVER)) return response;
    last = { address: String(input), text: await response.text() };
    return new Response(last.text, { headers: response.headers });
  };
  const client = createVendorClient({ ...deps, fetch: remembering, timer: systemTimer });
  const resolved = await client.resolve(vendor);
  if (last === undefined) throw new OAuthError("vendor_response_invalid", "This issuer publishes no metadata");
  // The metadata in use is the last document that was requested.
  return { resolved, document: parseJsonStrict(last.text) as JsonObject, address: last.address };
}

/**
 * Asks an MCP server as a flow does: its own document has to name the entry's issuer, whose document
 * (RFC 8414's first) has to have the entry's endpoints.
 *
 * @returns the difference that ends flows, if there is one
 * @throws OAuthError as discoverIssuer
 */
export async function findDifference(vendor: Vendor, deps: DiscoveryDeps): Promise<OAuthError | undefined> {
  try {
    await createVendorClient({ timer: systemTimer, ...deps }).resolve({ ...vendor, pkce: "none" });
    return undefined;
  } catch (error) {
    if (error instanceof OAuthError && error.extras.reason === "endpoint_mismatch") return error;
    throw error;
  }
}

/** @returns undefined when the document does not mention it */
export function listIn(document: JsonObject, name: string): readonly string[] | undefined {
  const value = document[name];
  if (!Array.isArray(value)) return undefined;
  return value.filter((member: unknown): member is string => typeof member === "string");
}
