/**
 * Which vendor, whose credentials, which endpoints: the decisions a pushed request and an explanation share.
 * Order matters: nothing is sent anywhere before the caller may use the vendor at all.
 */
import {
  connectionContext,
  isReservedAuthorizationParameter,
  OAuthError,
  type Parameters,
  parseScope,
  parseStringMap,
  type ResolvedVendor,
  type VendorCredentials,
} from "@oauth-broker/oauth-core";
import type { ClientConfig, VendorConfig } from "../config.ts";
import type { Deps } from "../deps.ts";
import type { Flow } from "./flow-record.ts";

/** Parameters of BYOC and manual mode: the caller's own credentials or endpoints. Not offered yet. */
const OWN_CREDENTIALS_AND_ENDPOINTS = [
  "vendor_client_id",
  "vendor_client_secret",
  "authorization_endpoint",
  "token_endpoint",
  "issuer",
  "placeholders",
] as const;

export interface VendorChoice {
  readonly vendor: ResolvedVendor;
  readonly credentials: VendorCredentials;
  /** Where the vendor sends the browser back. */
  readonly redirectUri: string;
  readonly contextHash: string;
}

/** @throws OAuthError invalid_request, unauthorized_client; 502/503 when discovery fails */
export async function chooseVendor(
  parameters: Parameters,
  client: ClientConfig,
  deps: Pick<Deps, "vendors" | "vendorClient" | "issuer">,
): Promise<VendorChoice> {
  refuseOwnCredentialsAndEndpoints(parameters);
  const entry = requireUsableVendor(parameters.require("vendor"), client, deps);
  requireNewAuthorizationsAllowed(entry, client);
  const credentials = requireActiveCredentials(entry);
  return chosenVendor(entry, credentials, client, deps);
}

/** The same vendor again on a later leg: with the credentials the flow began with, resolved from today's configuration. */
export async function rechooseVendor(
  flow: Pick<Flow, "vendor" | "credentialsId" | "credentialsSource">,
  client: ClientConfig,
  deps: Pick<Deps, "vendors" | "vendorClient" | "issuer">,
): Promise<VendorChoice> {
  const entry = requireUsableVendor(flow.vendor, client, deps);
  const credentials = findCredentials(entry, flow.credentialsId, flow.credentialsSource);
  return chosenVendor(entry, credentials, client, deps);
}

async function chosenVendor(
  entry: VendorConfig,
  credentials: VendorCredentials,
  client: ClientConfig,
  { vendorClient, issuer }: Pick<Deps, "vendorClient" | "issuer">,
): Promise<VendorChoice> {
  const vendor = await vendorClient.resolve(entry.vendor);
  const redirectUri = `${issuer}/v1/callback`;
  const { hash } = connectionContext({
    vendor,
    clientId: credentials.clientId,
    credentialsId: credentials.id,
    platformClientId: client.clientId,
    redirectUri,
  });
  return { vendor, credentials, redirectUri, contextHash: hash };
}

export function refuseOwnCredentialsAndEndpoints(parameters: Parameters): void {
  if (parameters.has("vendor_client_secret") && !parameters.has("vendor_client_id")) {
    throw new OAuthError("invalid_request", "vendor_client_secret needs vendor_client_id");
  }
  const used = OWN_CREDENTIALS_AND_ENDPOINTS.find((name) => parameters.has(name));
  if (used !== undefined) {
    throw new OAuthError("unauthorized_client", `${used} is not available to this client`);
  }
}

/** @throws OAuthError invalid_request for an unknown or disabled vendor, unauthorized_client for one not allowed */
export function requireUsableVendor(
  id: string,
  client: ClientConfig,
  { vendors }: Pick<Deps, "vendors">,
): VendorConfig {
  const entry = vendors.get(id);
  if (entry === undefined || !entry.vendor.enabled) {
    throw new OAuthError("invalid_request", "vendor is not known here: see /v1/vendors");
  }
  if (client.vendors !== undefined && !client.vendors.includes(id)) {
    throw new OAuthError("unauthorized_client", "This client may not use this vendor");
  }
  return entry;
}

function requireNewAuthorizationsAllowed({ vendor, setup, needsOwnerPage }: VendorConfig, client: ClientConfig): void {
  //= bar#XA-9
  if (needsOwnerPage) {
    throw new OAuthError(
      "unauthorized_client",
      "Clients of several owners share the credentials of this vendor; the page that names the client comes with a later release",
      { detail: `vendors.${vendor.id}: limit vendors of each client, or give all clients one owner` },
    );
  }
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

function requireActiveCredentials({ vendor, credentials }: VendorConfig): VendorCredentials {
  const active = credentials[0];
  if (active !== undefined) return active;
  throw new OAuthError("unauthorized_client", "The broker has no credentials for this vendor", {
    detail: `configure vendors.${vendor.id}.credentials`,
  });
}

/** @throws OAuthError vendor_credentials_rejected when the operator has removed them since */
export function findCredentials(
  { credentials }: VendorConfig,
  id: string,
  credentialsSource: VendorCredentials["source"],
): VendorCredentials {
  const found = credentials.find((entry) => entry.id === id);
  if (found !== undefined) return found;
  throw new OAuthError("vendor_credentials_rejected", "The credentials this began with are no longer configured", {
    credentialsSource,
  });
}

/** What the caller wants in the authorization request beyond the vendor itself. */
export interface AuthorizationWishes {
  readonly scope: readonly string[];
  readonly loginHint?: string;
  readonly prompt?: string;
  readonly resource?: string;
  readonly vendorParams?: Readonly<Record<string, string>>;
}

/** @throws OAuthError invalid_request, invalid_scope */
export function readWishes(parameters: Parameters, vendor: Pick<ResolvedVendor, "defaultScopes">): AuthorizationWishes {
  const scope = parameters.get("scope");
  const loginHint = parameters.get("login_hint");
  const prompt = parameters.get("prompt");
  const resource = parameters.get("resource");
  const vendorParams = parameters.get("vendor_params");
  return {
    scope: scope === undefined ? vendor.defaultScopes : parseScope(scope),
    ...(loginHint === undefined ? {} : { loginHint }),
    ...(prompt === undefined ? {} : { prompt }),
    ...(resource === undefined ? {} : { resource: requireResource(resource) }),
    ...(vendorParams === undefined ? {} : { vendorParams: requireVendorParams(vendorParams) }),
  };
}

//= rfc8707#2
function requireResource(resource: string): string {
  if (!URL.canParse(resource) || resource.includes("#")) {
    throw new OAuthError("invalid_request", "resource must be an absolute URI without fragment");
  }
  return resource;
}

/** Parameters with a place of their own in the pushed request: twice would be ambiguous. */
const HAVE_THEIR_OWN_PLACE: ReadonlySet<string> = new Set(["scope", "login_hint", "prompt", "resource"]);

/** Visible ASCII: what cuts a name short at one reader (NUL, a line break) would make it another parameter there. */
const PARAMETER_NAME = /^[\x21-\x7e]{1,128}$/;

//= bar#ST-4
function requireVendorParams(json: string): Record<string, string> {
  const wished = parseStringMap(json, "vendor_params");
  if (!Object.keys(wished).every((name) => PARAMETER_NAME.test(name))) {
    throw new OAuthError("invalid_request", "vendor_params has a name that is not visible ASCII");
  }
  const reserved = Object.keys(wished).find(
    (name) => isReservedAuthorizationParameter(name) || HAVE_THEIR_OWN_PLACE.has(name),
  );
  if (reserved !== undefined) {
    throw new OAuthError("invalid_request", "vendor_params holds a reserved parameter", {
      reason: "reserved_parameter",
    });
  }
  return wished;
}
