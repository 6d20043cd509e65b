/** Whose credentials: the operator's, by their id or the active ones, or the initial access token of a registration. */
import { OAuthError, type Secret } from "@oauth-broker/oauth-core";
import type { VendorCredentials } from "@oauth-broker/oauth-core/registry";
import type { ClientConfig, VendorConfig } from "../config.ts";

export function requireActiveCredentials(entry: VendorConfig | undefined): VendorCredentials {
  const active = entry?.credentials[0];
  if (active !== undefined) return active;
  throw new OAuthError("unauthorized_client", "The broker has no credentials for this vendor: send vendor_client_id", {
    detail: entry === undefined ? "a custom vendor" : `configure vendors.${entry.vendor.id}.credentials`,
  });
}

/** @throws OAuthError vendor_credentials_rejected when the operator has removed them since */
export function findCredentials(
  entry: VendorConfig | undefined,
  id: string,
  credentialsSource: VendorCredentials["source"],
): VendorCredentials {
  const found = entry?.credentials.find((one) => one.id === id);
  if (found !== undefined) return found;
  throw new OAuthError("vendor_credentials_rejected", "The credentials this began with are no longer configured", {
    credentialsSource,
  });
}

/** Each goes to the vendor it was entered for, on behalf of the owner it was entered for; the vendor's own serves all clients. */
//= bar#BY-4
export function configuredToken(
  client: ClientConfig,
  { vendor, initialAccessToken }: VendorConfig,
): Secret | undefined {
  return client.initialAccessTokens?.get(vendor.id) ?? initialAccessToken;
}
