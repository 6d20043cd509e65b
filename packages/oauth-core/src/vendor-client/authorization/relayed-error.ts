/** A vendor's error on the callback, as the client hears it in its redirect. Callers: the broker's and the template's callback. */
import { OAuthError } from "../../protocol/errors.ts";
import type { Parameters } from "../../protocol/parameters.ts";
import type { ResolvedVendor, VendorCredentials } from "../../vendors/vendor.ts";
import { mapCallbackError } from "./response.ts";

/** @param vendorError the `error` parameter as received */
export function relayedError(
  vendorError: string,
  parameters: Parameters,
  vendor: ResolvedVendor,
  credentialsSource: VendorCredentials["source"],
): OAuthError {
  const sent = Object.fromEntries(parameters.names().map((name) => [name, parameters.get(name) ?? ""]));
  const told = mapCallbackError({ ...sent, error: vendorError }, vendor);
  const { code, description = describe(code), reason } = told;
  return new OAuthError(code, description, {
    vendorError: told.vendorError,
    ...(reason === undefined ? {} : { reason }),
    ...(code === "vendor_credentials_rejected" ? { credentialsSource } : {}),
  });
}

function describe(code: string): string {
  if (code === "access_denied") return "The user cancelled at the vendor";
  if (code === "vendor_credentials_rejected") return "The vendor refused the client credentials: update them";
  return "The vendor answered with an error";
}
