/**
 * Dynamic client registration at a vendor: one request, and its response unchanged. Nothing of it
 * is read, kept or logged here; what the vendor issues belongs to the caller.
 */
import type { Secret } from "../../protocol/secret.ts";
import type { Vendor } from "../../registry/vendor.ts";
import { clientMetadata } from "./client-metadata.ts";
import { findRegistration, type RegistrationPlaceDeps, requireHostOfVendor } from "./endpoint.ts";
import type { VendorClientDeps } from "../binding.ts";
import { requireNoRedirect } from "../answer.ts";
import { translateVendorError, type VendorCall } from "../errors.ts";
import { ownRequest } from "../own-request.ts";

/** What one of our clients at a vendor is registered with (RFC 7591 §3.1). */
export interface RegistrationRequest {
  /** Our callback, the same at every vendor; the only one in the registration. */
  readonly redirectUri: string;
  /** For this vendor alone. */
  readonly initialAccessToken?: Secret;
}

/** The vendor's bytes, after content decoding. */
export interface RegistrationAnswer {
  /** 2xx, 4xx or 5xx. */
  readonly status: number;
  readonly contentType?: string;
  readonly body: Uint8Array<ArrayBuffer>;
}

type RegisterDeps = RegistrationPlaceDeps & Pick<VendorClientDeps, "fetch">;

const CALL: VendorCall = { what: "registration", spends: false };

/**
 * Sends exactly one request: when the response is lost, the vendor may hold a client that no caller
 * knows.
 *
 * @throws OAuthError invalid_request when the vendor has no registration endpoint;
 *   vendor_response_invalid for a redirect, a response beyond the limits, or wrong metadata;
 *   temporarily_unavailable when the vendor cannot be reached
 */
export async function registerClient(
  vendor: Vendor,
  { redirectUri, initialAccessToken }: RegistrationRequest,
  deps: RegisterDeps,
): Promise<RegistrationAnswer> {
  const { endpoint, authMethods } = await findRegistration(vendor, deps);
  if (initialAccessToken !== undefined) requireHostOfVendor(vendor, endpoint);
  //= rfc7591#3
  const headers = initialAccessToken === undefined ? {} : { authorization: `Bearer ${initialAccessToken.reveal()}` };
  const json = clientMetadata(vendor, redirectUri, authMethods);
  try {
    //= rfc7591#3.1
    const response = await deps.fetch(endpoint, { ...ownRequest("POST", headers, { json }), signal: deps.deadline() });
    return await readAnswer(response);
  } catch (error) {
    throw translateVendorError(error, CALL);
  }
}

async function readAnswer(response: Response): Promise<RegistrationAnswer> {
  requireNoRedirect(response, CALL);
  const contentType = response.headers.get("content-type");
  return {
    status: response.status,
    ...(contentType === null ? {} : { contentType }),
    body: new Uint8Array(await response.arrayBuffer()),
  };
}
