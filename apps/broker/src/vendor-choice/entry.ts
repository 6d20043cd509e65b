/**
 * Finds the vendor: the operator's entry, or one that the caller names, and whether this client may
 * use it. Then the credentials: the operator's, by their id or the active ones, or the initial
 * access token of a registration. Sends no request.
 */
import { defined, OAuthError, type Secret } from "@oauth-broker/oauth-core";
import { hasEnded, type Sunset, urlsThatEnd, type VendorCredentials } from "@oauth-broker/oauth-core/registry";
import type { ClientConfig, VendorConfig } from "../config.ts";
import type { Deps } from "../deps.ts";
import { isOfTenant } from "./tenants.ts";
import { didYouMean, idNamed } from "./names.ts";
import { CUSTOM_VENDOR, type VendorTarget } from "./request.ts";

/**
 * @returns undefined for a custom vendor
 * @throws OAuthError invalid_request for an unknown or disabled vendor, unauthorized_client for a
 *   vendor that this client may not use
 */
export function requireUsable(
  target: VendorTarget,
  client: ClientConfig,
  { vendors }: Pick<Deps, "vendors">,
): VendorConfig | undefined {
  const { vendor: id, issuer, authorizationEndpoint, tokenEndpoint } = target;
  const entry = id === CUSTOM_VENDOR ? undefined : requireUsableVendor(id, client, { vendors });
  if (entry === undefined) requireListed(id, client);
  const namesMore = entry === undefined || (issuer ?? authorizationEndpoint ?? tokenEndpoint) !== undefined;
  //= bar#XA-2
  if (namesMore && !client.allowOverrides) {
    throw new OAuthError("unauthorized_client", "This client may not name its own endpoints");
  }
  return entry;
}

/**
 * @throws OAuthError invalid_request for an unknown or disabled vendor, unauthorized_client for a
 *   vendor that this client may not use
 */
export function requireUsableVendor(
  name: string,
  client: ClientConfig,
  { vendors }: Pick<Deps, "vendors">,
): VendorConfig {
  const id = idNamed(name, vendors);
  const entry = vendors.get(id);
  //= bar#BY-5
  if (entry === undefined || !entry.vendor.enabled) {
    throw new OAuthError("invalid_request", `vendor is not known here${didYouMean(id, vendors)}: see /v1/vendors`);
  }
  requireListed(id, client);
  return entry;
}

/** A client with a list of vendors may use only those, `custom` included. */
function requireListed(id: string, { vendors }: ClientConfig): void {
  //= bar#BY-5
  if (vendors !== undefined && !vendors.includes(id)) {
    throw new OAuthError("unauthorized_client", "This client may not use this vendor");
  }
}

/**
 * A vendor that ends an endpoint gets no new flow there from that day on: its users would consent
 * to a connection that cannot be made.
 *
 * @throws OAuthError unauthorized_client
 */
export function requireNewAuthorizationsAllowed(
  entry: VendorConfig,
  target: VendorTarget,
  client: ClientConfig,
  deps: Pick<Deps, "now">,
): void {
  const { vendor, setup } = entry;
  const refuse = (description: string, detail?: string): never => {
    throw new OAuthError("unauthorized_client", description, defined({ detail }));
  };
  if (!vendor.acceptsNewAuthorizations) refuse("This vendor accepts no new authorizations; refresh and revoke go on");
  if (setup === "vendor_approval" && !client.approvedVendors.includes(vendor.id)) {
    refuse("The vendor must approve the organization first; the operator then lists it under approved_vendors");
  }
  const over = endedSunset(entry, target, deps);
  if (over === undefined) return;
  refuse(`The vendor has ended ${over.what} on ${over.endsOn}; refresh and revoke go on`, over.source);
}

/**
 * @param target its own endpoints take the place of the entry's
 * @returns the first announced end that has come for an endpoint where flows start
 */
export function endedSunset(
  { vendor, sunsets = [] }: VendorConfig,
  target: Pick<VendorTarget, "authorizationEndpoint" | "tokenEndpoint">,
  { now }: Pick<Deps, "now">,
): Sunset | undefined {
  const { authorizationEndpoint = vendor.authorizationEndpoint, tokenEndpoint = vendor.tokenEndpoint } = target;
  const used = [authorizationEndpoint, tokenEndpoint];
  return sunsets.find((sunset) => urlsThatEnd(used, sunset).length > 0 && hasEnded(sunset, now));
}

/**
 * @param given the values of the request: if tenants issue their own clients, the first that is
 *   used at this tenant is the active one. Whether it is used there at all: trustedChoice
 */
export function requireActiveCredentials(
  entry: VendorConfig | undefined,
  given: VendorTarget["placeholders"],
): VendorCredentials {
  const active = entry?.credentials.find((one) => isOfTenant(one, entry, given)) ?? entry?.credentials[0];
  if (active !== undefined) return active;
  throw new OAuthError("unauthorized_client", "The broker has no credentials for this vendor: send vendor_client_id", {
    detail: entry === undefined ? "a custom vendor" : `configure vendors.${entry.vendor.id}.credentials`,
  });
}

/**
 * @param clientId as it was then, if that is known
 * @throws OAuthError vendor_credentials_rejected when the operator has removed them since
 */
export function findCredentials(
  entry: VendorConfig | undefined,
  id: string,
  credentialsSource: VendorCredentials["source"],
  clientId?: string,
): VendorCredentials {
  const found = entry?.credentials.find((one) => one.id === id && one.clientId === (clientId ?? one.clientId));
  if (found !== undefined) return found;
  throw new OAuthError("vendor_credentials_rejected", "The credentials this began with are no longer configured", {
    credentialsSource,
  });
}

/**
 * A token is sent only to its vendor and only for its owner; the vendor's own token serves all
 * clients.
 */
//= bar#BY-4
export function configuredToken(
  client: ClientConfig,
  { vendor, initialAccessToken }: VendorConfig,
): Secret | undefined {
  return client.initialAccessTokens?.get(vendor.id) ?? initialAccessToken;
}
