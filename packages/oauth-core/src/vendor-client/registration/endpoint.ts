/** A vendor's registration endpoint, and which client authentication methods its metadata lists. */
import { defined } from "../../mechanics/defined.ts";
import { OAuthError } from "../../protocol/errors.ts";
import type { Vendor } from "../../registry/vendor.ts";
import type { VendorMetadata } from "../discovery/document.ts";
import { isOfMcpServer } from "../discovery/live.ts";
import type { TokenDeps } from "../token/validate-response.ts";
import { registrableDomainOf } from "../../protocol/public-suffix.ts";

export interface RegistrationPlace {
  readonly endpoint: string;
  /** As the vendor's metadata lists them; undefined when it lists none, or is not available. */
  readonly authMethods?: readonly string[];
}

export type RegistrationPlaceDeps = Pick<TokenDeps, "discovery" | "deadline" | "timer">;

/** When the endpoint is known, metadata is not worth a longer wait. */
const METADATA_TIMEOUT_MILLISECONDS = 2_000;

/**
 * The entry's own endpoint, else the one its issuer's metadata names.
 *
 * @throws OAuthError invalid_request when the vendor has no registration endpoint;
 *   vendor_response_invalid, temporarily_unavailable when discovery fails
 */
export async function findRegistration(vendor: Vendor, deps: RegistrationPlaceDeps): Promise<RegistrationPlace> {
  // Compares the endpoint of an MCP server's entry.
  if (isOfMcpServer(vendor)) await deps.discovery.resolve(vendor);
  const metadata = await metadataOf(vendor, deps);
  const endpoint = vendor.registrationEndpoint ?? metadata?.registrationEndpoint;
  // A template is not an address: the tenant is not known yet.
  if (endpoint === undefined || isTemplate(endpoint)) throw noRegistration(vendor);
  const authMethods = metadata?.tokenEndpointAuthMethods;
  return { endpoint, ...defined({ authMethods }) };
}

async function metadataOf(
  vendor: Vendor,
  { discovery, deadline, timer }: RegistrationPlaceDeps,
): Promise<VendorMetadata | undefined> {
  const { issuer, registrationEndpoint } = vendor;
  if (issuer === undefined || isTemplate(issuer)) return undefined;
  const timeout = registrationEndpoint === undefined ? deadline : () => timer.timeout(METADATA_TIMEOUT_MILLISECONDS);
  try {
    return await discovery.metadata(issuer, timeout);
  } catch (error) {
    if (error instanceof OAuthError && isDispensable(error, vendor)) return undefined;
    throw error;
  }
}

/** The entry states the endpoint itself, or the vendor needs no metadata and publishes none. */
function isDispensable({ code, extras }: OAuthError, vendor: Vendor): boolean {
  if (vendor.registrationEndpoint !== undefined) return true;
  const isComplete = vendor.authorizationEndpoint !== undefined && vendor.tokenEndpoint !== undefined;
  return isComplete && code === "vendor_response_invalid" && extras.reason === undefined;
}

function isTemplate(url: string): boolean {
  return url.includes("{");
}

/** For a vendor without dynamic registration, or without a known endpoint for it. */
export function noRegistration({ id }: Pick<Vendor, "id">): OAuthError {
  return new OAuthError(
    "invalid_request",
    "No registration endpoint is known for this vendor: register a client there yourself, and send its vendor_client_id and vendor_client_secret",
    { reason: "registration_not_supported", detail: `vendors.${id} has no registration_endpoint` },
  );
}

/**
 * An initial access token belongs to one vendor. The entry's own endpoint was configured together
 * with it; an endpoint from metadata gets the token only below a domain the entry already trusts,
 * so that a changed document cannot collect tokens elsewhere.
 *
 * @throws OAuthError vendor_response_invalid
 */
//= bar#BY-4
export function requireHostOfVendor(vendor: Vendor, endpoint: string): void {
  if (vendor.registrationEndpoint === endpoint) return;
  const own = [vendor.issuer, vendor.authorizationEndpoint, vendor.tokenEndpoint].flatMap((url) =>
    url === undefined ? [] : [registrableDomainOf(url)],
  );
  //= bar#BY-4
  if (own.includes(registrableDomainOf(endpoint))) return;
  throw new OAuthError(
    "vendor_response_invalid",
    "The vendor's metadata names a registration endpoint outside the vendor's own domain: no initial access token is sent there",
    {
      reason: "credential_binding_mismatch",
      detail: `state vendors.${vendor.id}.registration_endpoint if it is right`,
    },
  );
}
