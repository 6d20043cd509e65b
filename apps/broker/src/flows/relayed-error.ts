/** A vendor's error on the callback, as the platform hears it in its redirect. Called by finish-callback.ts. */
import { mapCallbackError, OAuthError, type Parameters, type ResolvedVendor } from "@oauth-broker/oauth-core";
import type { Flow } from "./flow-record.ts";

/** @param vendorError the `error` parameter as received */
export function relayedError(
  vendorError: string,
  parameters: Parameters,
  vendor: ResolvedVendor,
  { credentialsSource }: Pick<Flow, "credentialsSource">,
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
