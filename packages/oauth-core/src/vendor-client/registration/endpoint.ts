/**
 * Where a vendor registers clients, and what its metadata says about how they may authenticate.
 */
import { defined } from "../../mechanics/defined.ts";
import { OAuthError } from "../../protocol/errors.ts";
import type { Vendor } from "../../vendors/vendor.ts";
import type { Deadline } from "../deadline.ts";
import type { Discovery } from "../discovery/discover.ts";
import type { VendorMetadata } from "../discovery/document.ts";
import { registrableDomainOf } from "../../egress/url.ts";

export interface RegistrationPlace {
  readonly endpoint: string;
  /** As the vendor's metadata lists them; undefined where it says nothing, or cannot be had. */
  readonly authMethods?: readonly string[];
}

export interface RegistrationPlaceDeps {
  readonly discovery: Discovery;
  readonly deadline: Deadline;
}

/** Where the endpoint is known, metadata is worth no longer a wait. */
const METADATA_TIMEOUT_MILLISECONDS = 2_000;

/**
 * The entry's own endpoint, else the one its issuer's metadata names.
 *
 * @throws OAuthError invalid_request where there is none; vendor_response_invalid,
 *   temporarily_unavailable where it has to be discovered and cannot be
 */
export async function findRegistration(vendor: Vendor, deps: RegistrationPlaceDeps): Promise<RegistrationPlace> {
  const metadata = await metadataOf(vendor, deps);
  const endpoint = vendor.registrationEndpoint ?? metadata?.registrationEndpoint;
  // A template is not an address: which tenant is meant is not known yet.
  if (endpoint === undefined || isTemplate(endpoint)) throw noRegistration(vendor);
  const authMethods = metadata?.tokenEndpointAuthMethods;
  return { endpoint, ...defined({ authMethods }) };
}

async function metadataOf(
  vendor: Vendor,
  { discovery, deadline }: RegistrationPlaceDeps,
): Promise<VendorMetadata | undefined> {
  const { issuer, registrationEndpoint } = vendor;
  if (issuer === undefined || isTemplate(issuer)) return undefined;
  const timeout =
    registrationEndpoint === undefined ? deadline : () => AbortSignal.timeout(METADATA_TIMEOUT_MILLISECONDS);
  try {
    return await discovery.metadata(issuer, timeout);
  } catch (error) {
    if (error instanceof OAuthError && isDispensable(error, vendor)) return undefined;
    throw error;
  }
}

/** Where the entry says what metadata would, or where a vendor that needs none publishes none. */
function isDispensable({ code, extras }: OAuthError, vendor: Vendor): boolean {
  if (vendor.registrationEndpoint !== undefined) return true;
  const isComplete = vendor.authorizationEndpoint !== undefined && vendor.tokenEndpoint !== undefined;
  return isComplete && code === "vendor_response_invalid" && extras.reason === undefined;
}

function isTemplate(url: string): boolean {
  return url.includes("{");
}

/** For a vendor without dynamic registration, or of which no endpoint is known. */
export function noRegistration({ id }: Pick<Vendor, "id">): OAuthError {
  return new OAuthError(
    "invalid_request",
    "This vendor offers no dynamic client registration that is known here: register an app there by hand and bring its credentials",
    { reason: "registration_not_supported", detail: `vendors.${id} has no registration_endpoint` },
  );
}

/**
 * An initial access token belongs to one vendor. The entry's own endpoint was vouched for with it;
 * one that metadata names gets the token only below a domain the entry already trusts, so that a
 * changed document cannot collect tokens elsewhere.
 *
 * @throws OAuthError vendor_response_invalid
 */
//= bar#BY-4
export function requireHostOfVendor(vendor: Vendor, endpoint: string): void {
  if (vendor.registrationEndpoint === endpoint) return;
  const own = [vendor.issuer, vendor.authorizationEndpoint, vendor.tokenEndpoint].flatMap((url) =>
    url === undefined ? [] : [registrableDomainOf(url)],
  );
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
