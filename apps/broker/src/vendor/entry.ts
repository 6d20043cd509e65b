/** Which vendor: the operator's entry, or one that the caller names, and whether this client may use it. Sends no request. */
import { OAuthError } from "@oauth-broker/oauth-core";
import { type ClientConfig, CUSTOM_VENDOR, type VendorConfig } from "../config.ts";
import type { Deps } from "../deps.ts";
import { isManual, type VendorTarget } from "./request.ts";

/**
 * @returns undefined for a custom vendor
 * @throws OAuthError invalid_request for an unknown or disabled vendor, unauthorized_client for one not allowed
 */
export function requireUsable(
  target: VendorTarget,
  client: ClientConfig,
  { vendors }: Pick<Deps, "vendors">,
): VendorConfig | undefined {
  const { vendor: id } = target;
  const entry = id === CUSTOM_VENDOR ? undefined : requireUsableVendor(id, client, { vendors });
  if (entry === undefined) requireListed(id, client);
  if (isManual(target) && !client.allowOverrides) {
    throw new OAuthError("unauthorized_client", "This client may not name endpoints of its own");
  }
  return entry;
}

/** @throws OAuthError invalid_request for an unknown or disabled vendor, unauthorized_client for one not allowed */
export function requireUsableVendor(
  id: string,
  client: ClientConfig,
  { vendors }: Pick<Deps, "vendors">,
): VendorConfig {
  const entry = vendors.get(id);
  //= bar#BY-5
  if (entry === undefined || !entry.vendor.enabled) {
    throw new OAuthError("invalid_request", "vendor is not known here: see /v1/vendors");
  }
  requireListed(id, client);
  return entry;
}

/** A client with a list may use what is on it and nothing else, `custom` included. */
function requireListed(id: string, { vendors }: ClientConfig): void {
  if (vendors !== undefined && !vendors.includes(id)) {
    throw new OAuthError("unauthorized_client", "This client may not use this vendor");
  }
}

export function requireNewAuthorizationsAllowed({ vendor, setup }: VendorConfig, client: ClientConfig): void {
  if (!vendor.acceptsNewAuthorizations) {
    throw new OAuthError("unauthorized_client", "This vendor accepts no new authorizations; refresh and revoke go on");
  }
  if (setup === "vendor_approval" && !client.approvedVendors.includes(vendor.id)) {
    throw new OAuthError(
      "unauthorized_client",
      "The vendor must approve the organization first; the operator then lists it under approved_vendors",
    );
  }
}
