/**
 * Refresh and revoke name what minted the token: by `connection`, or by `vendor` for callers that kept only that.
 * With `connection` nothing is guessed; with `vendor` the active credentials are meant.
 */
import { OAuthError, type Parameters, type ResolvedVendor, type VendorCredentials } from "@oauth-broker/oauth-core";
import type { ClientConfig } from "../config.ts";
import type { Deps, Trace } from "../deps.ts";
import { type Connection, connectionOf, openConnection } from "./connection.ts";
import { findCredentials, refuseOwnCredentialsAndEndpoints, requireUsableVendor } from "./vendor-choice.ts";

export interface GrantContext {
  readonly vendor: ResolvedVendor;
  readonly credentials: VendorCredentials;
  readonly connection: Connection;
  /** As the caller sent it; absent where the caller named only the vendor. */
  readonly presented: string | undefined;
}

/** @throws OAuthError invalid_request, unauthorized_client, invalid_grant, vendor_credentials_rejected; 502/503 of discovery */
export async function readGrantContext(
  parameters: Parameters,
  client: ClientConfig,
  deps: Pick<Deps, "keyset" | "vendors" | "vendorClient">,
  trace: Trace,
): Promise<GrantContext> {
  refuseOwnCredentialsAndEndpoints(parameters);
  const presented = parameters.get("connection");
  const connection = presented === undefined ? undefined : await openConnection(presented, client.clientId, deps);
  const vendorId = connection?.vendor ?? parameters.require("vendor");
  if (vendorId !== (parameters.get("vendor") ?? vendorId)) {
    throw new OAuthError("invalid_request", "vendor and connection name different vendors");
  }
  const entry = requireUsableVendor(vendorId, client, deps);
  trace.vendor = vendorId;
  const credentials =
    connection === undefined
      ? entry.credentials[0]
      : findCredentials(entry, connection.credentialsId, connection.credentialsSource);
  if (credentials === undefined) {
    throw new OAuthError("unauthorized_client", "The broker has no credentials for this vendor");
  }
  trace.credentialsId = credentials.id;
  const vendor = await deps.vendorClient.resolve(entry.vendor);
  return { vendor, credentials, connection: connection ?? connectionOf({ vendor, credentials }, undefined), presented };
}

/** A token and our secret go to hosts that were the vendor's when it was issued, whatever the configuration says today. */
//= bar#BY-4
export function requireKnownHost(connection: Connection, endpoint: string | undefined): void {
  if (endpoint === undefined || connection.hosts.includes(new URL(endpoint).host)) return;
  throw new OAuthError("invalid_grant", "The vendor's endpoint moved: the user must authorize again", {
    reason: "connection_endpoint_changed",
  });
}
