/**
 * Pre-registered mode requires the user's vendor token on every request, and during development
 * no platform sends one. So one is fetched from the practice vendor, at which a simulated
 * user approves: the platform's part, once.
 */
import { createVendorClient } from "@oauth-broker/oauth-core/vendor-client";
import { createCodeVerifier, deriveCodeChallenge, randomToken } from "@oauth-broker/oauth-core/protocol";
import { createEgress } from "@oauth-broker/oauth-core/egress";
import { systemClock, systemTimer } from "@oauth-broker/oauth-core";
import type { VendorSettings } from "../settings.ts";

const TIMEOUT_MS = 10_000;

/**
 * @param settings of the practice vendor, with the credentials of its app
 * @param redirectUri the app's; no server has to listen there
 * @throws Error of the practice vendor, OAuthError of the exchange
 */
export async function fetchTestToken(
  { vendor, credentials, scopes }: VendorSettings,
  redirectUri: string,
): Promise<string> {
  if (credentials === undefined) throw new Error("The practice vendor needs VENDOR_CLIENT_ID");
  const egress = createEgress({ allowLoopback: true, allowCidrs: [], timeoutMs: TIMEOUT_MS });
  try {
    const vendorClient = createVendorClient({
      fetch: egress.fetch,
      timer: systemTimer,
      now: systemClock,
      allowLoopback: true,
    });
    const resolved = await vendorClient.resolve(vendor);
    const [codeVerifier, nonce, state] = [createCodeVerifier(), randomToken(16), randomToken(16)];
    const asked = { scope: scopes, redirectUri, nonce };
    const codeChallenge = resolved.pkce === "plain" ? codeVerifier : deriveCodeChallenge(codeVerifier);
    const { clientId } = credentials;
    const { driveConsent } = await import("@oauth-broker/simulators");
    const start = vendorClient.authorizationUrl(resolved, { ...asked, clientId, state, codeChallenge });
    const { searchParams } = await driveConsent(start, { stopAt: (url) => url.href.startsWith(redirectUri) });
    const code = searchParams.get("code");
    if (code === null) throw new Error(`The practice vendor answered ${searchParams.get("error") ?? "without a code"}`);
    const { accessToken } = await vendorClient.redeemCode(resolved, credentials, { ...asked, code, codeVerifier });
    return accessToken;
  } finally {
    await egress.close();
  }
}
