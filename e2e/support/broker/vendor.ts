/** The vendor of most tests: a real OpenID provider on loopback, with the broker as its client. */
import { type OpenIdProvider, type OpenIdProviderOptions, startOpenIdProvider } from "@oauth-broker/simulators";
import type { Secrets } from "./configuration.ts";
import { plantSecret } from "../secrets.ts";

/** PKCE required, refresh tokens rotate, `iss` beside the code. */
export async function startVendor(
  { baseUrl, secrets }: { readonly baseUrl: string; readonly secrets: Secrets },
  options: Partial<OpenIdProviderOptions> = {},
): Promise<OpenIdProvider> {
  return startOpenIdProvider({
    clients: [{ clientId: "broker", clientSecret: secrets.vendor, redirectUris: [`${baseUrl}/v1/callback`] }],
    ...options,
  });
}

/** What only the vendor received: our verifier, its codes and tokens, our credentials there. */
export function plantVendorSecrets(vendor: Pick<OpenIdProvider, "requests">): void {
  for (const { body, query, headers } of vendor.requests()) {
    for (const name of ["code", "code_verifier", "refresh_token", "token", "client_secret"]) {
      plantSecret(`${name} at the vendor`, body[name]);
    }
    plantSecret("state at the vendor", query["state"]);
    plantSecret("nonce at the vendor", query["nonce"]);
    plantSecret("Basic header at the vendor", headers["authorization"]?.replace(/^Basic /i, ""));
  }
}
