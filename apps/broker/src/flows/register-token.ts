/** Whose initial access token goes with a registration when the caller brings none. Used by register.ts. */
import type { Secret } from "@oauth-broker/oauth-core";
import type { ClientConfig, VendorConfig } from "../config.ts";

/** Each goes to the vendor it was entered for, on behalf of the owner it was entered for; the vendor's own serves all clients. */
//= bar#BY-4
export function configuredToken(
  client: ClientConfig,
  { vendor, initialAccessToken }: VendorConfig,
): Secret | undefined {
  return client.initialAccessTokens?.get(vendor.id) ?? initialAccessToken;
}
