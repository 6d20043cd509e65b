/**
 * Which vendor, whose credentials, which endpoints: the decisions all legs, refresh, revoke and explain share.
 * Order matters: nothing is sent anywhere before the caller may use the vendor, and those credentials there, at all.
 */
import {
  connectionContext,
  OAuthError,
  type Parameters,
  type ResolvedVendor,
  type VendorClient,
  type VendorCredentials,
  withClientId,
} from "@oauth-broker/oauth-core";
import { type ClientConfig, CUSTOM_VENDOR, type VendorConfig } from "../config.ts";
import type { Deps } from "../deps.ts";
import { callbackContext, callbackPath } from "./callback-path.ts";
import type { Flow } from "./flow-record.ts";
import { requireForeignClient } from "./foreign-client.ts";
import { planVendor, requireOwnCredentials, resolvePlan, type Tier } from "./vendor-plan.ts";
import {
  isManual,
  ownCredentials,
  readOwnCredentials,
  readTarget,
  targetFields,
  type VendorTarget,
} from "./vendor-target.ts";

export interface VendorChoice {
  readonly vendor: ResolvedVendor;
  readonly credentials: VendorCredentials;
  /** What names the same vendor again. */
  readonly target: VendorTarget;
  /** The operator's entry; absent for a custom vendor. */
  readonly entry: VendorConfig | undefined;
  readonly tier: Tier;
  /** Asks this vendor, and reaches what it may reach. */
  readonly vendorClient: VendorClient;
  /** Where the vendor sends the browser back. */
  readonly redirectUri: string;
  /** At tier 3, what tells its path from others. */
  readonly context?: string;
  readonly contextHash: string;
}

export type ChoiceDeps = Pick<
  Deps,
  "vendors" | "registrations" | "vendorClient" | "untrustedVendorClient" | "issuer" | "allowLoopback" | "keyset"
>;

/** @throws OAuthError invalid_request, unauthorized_client; 502/503 when discovery fails */
export async function chooseVendor(
  parameters: Parameters,
  client: ClientConfig,
  deps: ChoiceDeps,
): Promise<VendorChoice> {
  const own = readOwnCredentials(parameters);
  const target = readTarget(parameters);
  const entry = requireUsable(target, client, deps);
  if (entry !== undefined) requireNewAuthorizationsAllowed(entry, client);
  return chosenVendor(target, entry, own ?? requireActiveCredentials(entry), client, deps);
}

/**
 * The same vendor again on a later leg: with the credentials the flow began with, resolved from today's configuration.
 *
 * @param clientSecret of BYOC, from where the flow keeps it on this leg
 */
export async function rechooseVendor(
  flow: Pick<Flow, "vendor" | "credentialsId" | "credentialsSource" | "vendorClientId"> & VendorTarget,
  client: ClientConfig,
  clientSecret: string | undefined,
  deps: ChoiceDeps,
): Promise<VendorChoice> {
  const target = { vendor: flow.vendor, ...targetFields(flow) };
  const entry = requireUsable(target, client, deps);
  const credentials =
    flow.credentialsSource === "byoc"
      ? ownCredentials(flow.vendorClientId ?? "", clientSecret)
      : findCredentials(entry, flow.credentialsId, flow.credentialsSource);
  return chosenVendor(target, entry, credentials, client, deps);
}

/** @throws OAuthError as `planVendor`, `requireOwnCredentials` and `resolvePlan` */
export async function chosenVendor(
  target: VendorTarget,
  entry: VendorConfig | undefined,
  credentials: VendorCredentials,
  client: ClientConfig,
  deps: ChoiceDeps,
): Promise<VendorChoice> {
  const plan = planVendor(target, entry === undefined ? undefined : asClient(entry, credentials), deps);
  if (credentials.source !== "byoc") requireOwnCredentials(plan);
  const { vendor, tier, vendorClient } = await resolvePlan(plan, credentials, deps);
  if (tier === 3 && credentials.source === "byoc") requireForeignClient(credentials, deps);
  const context =
    tier === 3
      ? callbackContext(
          {
            clientId: client.clientId,
            vendor: vendor.id,
            authorizationEndpoint: vendor.authorizationEndpoint,
            tokenEndpoint: vendor.tokenEndpoint,
            vendorClientId: credentials.clientId,
          },
          deps.keyset.contextKey(),
        )
      : undefined;
  const redirectUri = `${deps.issuer}${callbackPath(context)}`;
  const { hash } = connectionContext({
    vendor,
    clientId: credentials.clientId,
    credentialsId: credentials.id,
    platformClientId: client.clientId,
    redirectUri,
    placeholders: plan.target.placeholders ?? {},
  });
  return {
    vendor,
    credentials,
    target: plan.target,
    entry,
    tier,
    vendorClient,
    redirectUri,
    ...(context === undefined ? {} : { context }),
    contextHash: hash,
  };
}

/** The same entry, except for the few vendors whose addresses name the client. */
function asClient(entry: VendorConfig, { clientId }: VendorCredentials): VendorConfig {
  const vendor = withClientId(entry.vendor, clientId, entry.placeholders);
  return vendor === entry.vendor ? entry : { ...entry, vendor };
}

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

function requireNewAuthorizationsAllowed({ vendor, setup }: VendorConfig, client: ClientConfig): void {
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
