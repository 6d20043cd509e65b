/** Finds a vendor's metadata document at the places the standards name. */
import type { JsonObject } from "../../ports.ts";
import { OAuthError } from "../../protocol/errors.ts";
import { VENDOR_OPERATION_SECONDS } from "../deadline.ts";
import { readMetadata, requireEndpoint, requireMetadataOf, type VendorMetadata } from "./document.ts";
import { readObject, requireAnswer } from "../answer.ts";
import type { VendorClientDeps } from "../binding.ts";
import { invalidVendorResponse, translateVendorError, type VendorCall } from "../errors.ts";

const CALL: VendorCall = { what: "discovery", spends: false };

/**
 * OpenID Connect's place first: its document usually says more. A place that has none, something
 * that is no metadata, or the metadata of another issuer, makes way for the next; an outage does
 * not.
 */
//= oidc-discovery#4
//= rfc8414#3
function wellKnownUrls(issuer: URL): string[] {
  const path = issuer.pathname.replace(/\/$/, "");
  return [
    `${issuer.origin}${path}/.well-known/openid-configuration`,
    `${issuer.origin}/.well-known/oauth-authorization-server${path}`,
    ...(path === "" ? [] : [`${issuer.origin}/.well-known/openid-configuration${path}`]),
  ];
}

/**
 * @param issuer compared byte for byte with the document's
 * @throws OAuthError vendor_response_invalid, temporarily_unavailable
 */
export async function loadMetadata(issuer: string, deps: VendorClientDeps): Promise<VendorMetadata> {
  const url = requireEndpoint(issuer, "issuer", deps);
  if (url.search !== "") throw invalidVendorResponse("discovery: the issuer has a query");
  const signal = AbortSignal.timeout(VENDOR_OPERATION_SECONDS * 1000);
  let nothing: unknown = invalidVendorResponse("discovery: no metadata in any of the well-known places");
  try {
    for (const address of wellKnownUrls(url)) {
      const document = await loadDocument(address, signal, deps);
      if (document === undefined) continue;
      const foreign = await requireMetadataOf(issuer, document).catch((error: unknown) => error);
      if (foreign === undefined) return readMetadata(document, deps);
      nothing = foreign;
    }
    throw nothing;
  } catch (error) {
    throw translateVendorError(error, CALL);
  }
}

/** @returns undefined when there is no metadata at this address */
async function loadDocument(
  address: string,
  signal: AbortSignal,
  { fetch, now }: VendorClientDeps,
): Promise<JsonObject | undefined> {
  const response = await fetch(address, { headers: { accept: "application/json" }, redirect: "manual", signal });
  if (response.status === 429 || response.status >= 500) requireAnswer(response, CALL, now);
  if (response.status !== 200) return undefined;
  try {
    return await readObject(response, CALL);
  } catch (error) {
    if (error instanceof OAuthError && error.code === "vendor_response_invalid") return undefined;
    throw error;
  }
}
