/**
 * Which vendor, whose credentials, which endpoints: decided once when a flow begins, and again in the same words on every later
 * leg, refresh and revocation. Nothing is sent before the caller may use the vendor, and the broker's credentials
 * there. A client id of the broker's that a caller brings to a vendor of its own is refused after discovery; no credential is sent.
 */
import { connectionContext, withClientId } from "@oauth-broker/oauth-core/client";
import type { Parameters } from "@oauth-broker/oauth-core/protocol";
import type { VendorCredentials } from "@oauth-broker/oauth-core/registry";
import type { ClientConfig, VendorConfig } from "../config.ts";
import type { Deps } from "../deps.ts";
import { callbackContext, callbackPath } from "./callback-path.ts";
import { readEndpoints, requireOwnCredentials } from "./endpoints.ts";
import { findCredentials, requireActiveCredentials, requireNewAuthorizationsAllowed, requireUsable } from "./entry.ts";
import { ownCredentials, readOwnCredentials, readTarget, targetFields, type VendorTarget } from "./request.ts";
import { requireForeignClient } from "./registrations.ts";
import { resolveTrusted, type TrustedVendor } from "./trust.ts";

export interface VendorChoice extends TrustedVendor {
  readonly credentials: VendorCredentials;
  /** What names the same vendor again. */
  readonly target: VendorTarget;
  /** The operator's entry; absent for a custom vendor. */
  readonly entry: VendorConfig | undefined;
  /** Where the vendor sends the browser back. */
  readonly redirectUri: string;
  /** Of `redirectUri`: an answer counts there alone. */
  readonly callbackPath: string;
  readonly contextHash: string;
}

/** What a flow keeps to name the same vendor again. */
export interface ChosenBefore extends VendorTarget {
  readonly credentialsId: string;
  readonly credentialsSource: VendorCredentials["source"];
  readonly vendorClientId?: string;
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
  const own = readOwnCredentials(parameters); //                             1  what the caller says
  const target = readTarget(parameters);
  const entry = requireUsable(target, client, deps); //                      2  which vendor, and may this client use it
  if (entry !== undefined) requireNewAuthorizationsAllowed(entry, client);
  const credentials = own ?? requireActiveCredentials(entry); //             3  whose credentials
  return trustedChoice(target, entry, credentials, client, deps); //         4  how far it is trusted
}

/**
 * The same vendor again on a later leg: with the credentials the flow began with, resolved from today's configuration.
 *
 * @param clientSecret of BYOC, from where the flow keeps it on this leg
 */
export async function rechooseVendor(
  flow: ChosenBefore,
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
  return trustedChoice(target, entry, credentials, client, deps);
}

/** @throws OAuthError as readEndpoints, requireOwnCredentials and resolveTrusted */
export async function trustedChoice(
  target: VendorTarget,
  entry: VendorConfig | undefined,
  credentials: VendorCredentials,
  client: ClientConfig,
  deps: ChoiceDeps,
): Promise<VendorChoice> {
  const ofClient = entry === undefined ? undefined : asClient(entry, credentials);
  const endpoints = readEndpoints(target, ofClient, deps); //                a  where its endpoints are, as far as we are told
  if (credentials.source !== "byoc") requireOwnCredentials(endpoints); //       credentials of ours go nowhere else
  const trusted = await resolveTrusted(endpoints, credentials, deps); //     b  discovered; its tier and network
  const { vendor, tier } = trusted;
  if (tier === 3 && credentials.source === "byoc") requireForeignClient(credentials, deps.registrations);
  const path = callbackPath(tier === 3 ? contextOf(vendor, credentials, client, deps) : undefined);
  const redirectUri = `${deps.issuer}${path}`; //                            c  where its answers count
  const { hash } = connectionContext({
    vendor,
    clientId: credentials.clientId,
    credentialsId: credentials.id,
    platformClientId: client.clientId,
    redirectUri,
    placeholders: endpoints.target.placeholders ?? {},
  });
  return {
    ...trusted,
    credentials,
    target: endpoints.target,
    entry,
    redirectUri,
    callbackPath: path,
    contextHash: hash,
  };
}

function contextOf(
  { id, authorizationEndpoint, tokenEndpoint }: TrustedVendor["vendor"],
  { clientId: vendorClientId }: VendorCredentials,
  { clientId }: ClientConfig,
  { keyset }: Pick<Deps, "keyset">,
): string {
  const context = { clientId, vendor: id, authorizationEndpoint, tokenEndpoint, vendorClientId };
  return callbackContext(context, keyset.contextKey());
}

/** The same entry, except for the few vendors whose addresses name the client. */
function asClient(entry: VendorConfig, { clientId }: VendorCredentials): VendorConfig {
  const vendor = withClientId(entry.vendor, clientId, entry.placeholders);
  return vendor === entry.vendor ? entry : { ...entry, vendor };
}
