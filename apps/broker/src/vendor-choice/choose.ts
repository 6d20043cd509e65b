/**
 * Chooses the vendor, the credentials and the endpoints: once when a flow begins, and again by the
 * same rules on every later leg, refresh and revocation. Sends nothing before it is clear that the
 * caller may use the vendor and the broker's credentials there. A client id that the broker holds
 * and that a caller sends to its own vendor is refused after discovery; no credential is sent.
 */
import { flowContextHash, withClientId } from "@oauth-broker/oauth-core/vendor-client";
import type { VendorCredentials } from "@oauth-broker/oauth-core/registry";
import type { ClientConfig, VendorConfig } from "../config.ts";
import type { ConfiguredCredentials } from "../config-types.ts";
import type { Deps } from "../deps.ts";
import { callbackContext, callbackPath } from "./callback-path.ts";
import { callersPartOf, requireAllowedPart } from "./callers-part.ts";
import { type EndpointDeps, endpointsOfEntry, endpointsOfRequest } from "./endpoints.ts";
import { findCredentials, requireActiveCredentials, requireNewAuthorizationsAllowed, requireUsable } from "./entry.ts";
import { ownCredentials, targetFields, type VendorRequest, type VendorTarget } from "./request.ts";
import { requireForeignClient } from "./registrations.ts";
import { isOfTenant, tenantRefused } from "./tenants.ts";
import { resolveTrusted, type TrustDeps, type TrustedVendor } from "./trust.ts";

export interface VendorChoice extends TrustedVendor {
  readonly credentials: VendorCredentials;
  /** The parameters that name the same vendor again. */
  readonly target: VendorTarget;
  /** The operator's entry; absent for a custom vendor. */
  readonly entry: VendorConfig | undefined;
  /** The redirect URI at the vendor. */
  readonly redirectUri: string;
  /** The path of `redirectUri`: an answer is accepted on that path only. */
  readonly callbackPath: string;
  readonly contextHash: string;
}

/** What a flow stores to name the same vendor again. */
export interface ChosenBefore extends VendorTarget {
  readonly credentialsId: string;
  readonly credentialsSource: VendorCredentials["source"];
  /** BYOC: the client's own id at the vendor. */
  readonly vendorClientId?: string;
}

export type ChoiceDeps = EndpointDeps & TrustDeps & Pick<Deps, "vendors" | "registrations" | "keyset">;

/**
 * Choices at tier 1 of entries without placeholders, with credentials of the operator. Such a
 * choice depends on objects of the configuration, by which it is kept, and on the vendor as this
 * broker has resolved it, which is compared at each use.
 */
const KEPT = new WeakMap<VendorCredentials, WeakMap<ClientConfig, VendorChoice>>();

/** @throws OAuthError invalid_request, unauthorized_client; 502/503 when discovery fails */
export async function chooseVendor(
  request: VendorRequest,
  client: ClientConfig,
  deps: ChoiceDeps & Pick<Deps, "now">,
): Promise<VendorChoice> {
  const { target, ownCredentials: own } = request;
  // 1. which vendor, may this client use it, and whose credentials
  const entry = requireUsable(target, client, deps);
  if (entry !== undefined) requireNewAuthorizationsAllowed(entry, target, client, deps);
  const credentials = own ?? requireActiveCredentials(entry, target.placeholders);
  // 2. how far it is trusted, and whether it may be reached at all
  const begun = { ...deps, requireReachable: deps.isProxied };
  return trustedChoice(target, entry, credentials, client, begun);
}

/**
 * Chooses the same vendor on a later leg, with the credentials the flow began with and the present
 * configuration.
 *
 * @param clientSecret of BYOC, as the flow stores it on this leg
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

/** @throws OAuthError as endpointsOfEntry, requireAllowedPart and resolveTrusted */
export async function trustedChoice(
  target: VendorTarget,
  entry: VendorConfig | undefined,
  credentials: ConfiguredCredentials,
  client: ClientConfig,
  deps: ChoiceDeps & { readonly requireReachable?: boolean },
): Promise<VendorChoice> {
  const kept = await findKept(target, entry, credentials, client, deps);
  if (kept !== undefined) return kept;
  // 1. its endpoints, as far as entry and caller say
  const endpoints =
    entry === undefined
      ? endpointsOfRequest(target, deps)
      : endpointsOfEntry(target, asClient(entry, credentials), deps);
  const isOurs = credentials.source !== "byoc";
  const rules = { isOurs, requireReachable: deps.requireReachable };
  // 2. our credentials go nowhere else, and nothing is sent to find that out
  //= bar#XA-2
  requireAllowedPart(callersPartOf(endpoints), rules);
  // 3. a client of one tenant is used at no other
  //= bar#XA-2
  if (isOurs && entry !== undefined && !isOfTenant(credentials, entry, target.placeholders)) {
    throw tenantRefused();
  }
  // 4. discovered; its tier and network
  const trusted = await resolveTrusted(endpoints, credentials, deps);
  const { vendor, tier } = trusted;
  requireAllowedPart(trusted.callersPart, rules);
  if (tier === 3 && !isOurs) requireForeignClient(credentials, deps.registrations);
  // 5. the path of its redirects
  const path = callbackPath(tier === 3 ? contextOf(vendor, credentials, client, deps) : undefined);
  const redirectUri = `${deps.issuer}${path}`;
  const contextHash = flowContextHash({
    vendor,
    clientId: credentials.clientId,
    credentialsId: credentials.id,
    platformClientId: client.clientId,
    redirectUri,
    placeholders: endpoints.target.placeholders ?? {},
  });
  const choice: VendorChoice = {
    ...trusted,
    credentials,
    target: endpoints.target,
    entry,
    redirectUri,
    callbackPath: path,
    contextHash,
  };
  if (tier === 1 && isOurs && endpoints.base === entry?.vendor) keep(choice, client);
  return choice;
}

/** @returns undefined when the request says more than a vendor, or the vendor's metadata has changed */
async function findKept(
  target: VendorTarget,
  entry: VendorConfig | undefined,
  credentials: VendorCredentials,
  client: ClientConfig,
  { vendorClient }: Pick<ChoiceDeps, "vendorClient">,
): Promise<VendorChoice | undefined> {
  const kept = KEPT.get(credentials)?.get(client);
  if (kept === undefined || entry === undefined || kept.entry !== entry || saysMore(target)) return undefined;
  //= bar#XA-5
  return (await vendorClient.resolve(entry.vendor)) === kept.vendor ? kept : undefined;
}

function keep(choice: VendorChoice, client: ClientConfig): void {
  if (saysMore(choice.target)) return;
  const byClient = KEPT.get(choice.credentials) ?? new WeakMap<ClientConfig, VendorChoice>();
  KEPT.set(choice.credentials, byClient.set(client, choice));
}

/** Whether it names a placeholder or an endpoint beside the vendor. */
function saysMore(target: VendorTarget): boolean {
  return Object.keys(target).length > 1;
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

/** The entry unchanged, except for the few vendors whose addresses name the client. */
function asClient(entry: VendorConfig, { clientId }: VendorCredentials): VendorConfig {
  const vendor = withClientId(entry.vendor, clientId, entry.placeholders);
  return vendor === entry.vendor ? entry : { ...entry, vendor };
}
