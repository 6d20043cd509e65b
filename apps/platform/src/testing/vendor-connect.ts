/** The platform's OAuth half with an OpenID provider as the vendor: users go through whole flows. */
import { Secret } from "@oauth-broker/oauth-core";
import { driveConsent, type DriveConsentOptions, startOpenIdProvider } from "@oauth-broker/simulators";
import type { Connector, SettingsChange } from "../connectors/connector.ts";
import type { SignedIn } from "../users/session.ts";
import { createBearers } from "../oauth/bearer.ts";
import { finishConnect, startConnect } from "../oauth/connect.ts";
import { openTestConnect, REDIRECT_URI, signedIn } from "./test-connect.ts";

export const FIRST: SignedIn = signedIn("first-user");
export const SECOND: SignedIn = signedIn("second-user");

export type VendorConnect = Awaited<ReturnType<typeof openVendorConnect>>;

/** The provider knows two apps, `ours` and `other`. */
export async function openVendorConnect() {
  const clients = ["ours", "other"].map((clientId) => ({
    clientId,
    clientSecret: `secret-of-${clientId}-canary`,
    redirectUris: [REDIRECT_URI],
  }));
  const provider = await startOpenIdProvider({ clients });
  const platform = await openTestConnect();
  const settings: SettingsChange = {
    authentication: "oauth_2_1",
    registration: "pre_registered_client",
    clientId: "ours",
    clientSecret: new Secret("secret-of-ours-canary"),
    vendorOrIssuer: provider.issuer,
    scopes: "openid profile offline_access",
  };
  let made = 0;
  /** @returns the callback URL, not requested */
  const goToVendor = async (connector: Connector, by = FIRST, options: Partial<DriveConsentOptions> = {}) => {
    const url = await startConnect(connector, by, platform);
    return (await driveConsent(url, { stopAt: (at) => at.href.startsWith(REDIRECT_URI), ...options })).href;
  };
  return {
    ...platform,
    provider,
    settings,
    /** A new active connector each time, with the app `ours` unless `changes` say otherwise. */
    newConnector: (changes: SettingsChange = {}) => {
      made += 1;
      return platform.addConnector(`connector-${made}`, { ...settings, ...changes });
    },
    goToVendor,
    bearers: (fetch = platform.fetch) =>
      createBearers({ ...platform, fetch, platformToken: platform.connectors.platformToken }),
    connect: async (connector: Connector, by = FIRST, options: Partial<DriveConsentOptions> = {}) =>
      finishConnect(await goToVendor(connector, by, options), by, platform),
    statusOf: (connector: Connector, by = FIRST) => platform.connections.status(connector, by.user.id),
    close: async () => {
      await platform.close();
      await provider.close();
    },
  };
}
