/** The platform's OAuth half with an OpenID provider as the vendor: users go through whole flows. */
import { Secret } from "@oauth-broker/oauth-core";
import {
  driveConsent,
  type DriveConsentOptions,
  type OpenIdProvider,
  startOpenIdProvider,
} from "@oauth-broker/simulators";
import type { Connector } from "../connectors/connector.ts";
import type { SettingsChange } from "../connectors/store.ts";
import type { SignedIn } from "../users/session.ts";
import type { Connections } from "../oauth/connections.ts";
import { finishConnect, type Finished, startConnect } from "../oauth/connect.ts";
import { openTestConnect, REDIRECT_URI, signedIn, type TestConnect } from "./test-connect.ts";

export const FIRST: SignedIn = signedIn("first-user");
export const SECOND: SignedIn = signedIn("second-user");

export interface VendorConnect extends TestConnect {
  readonly provider: OpenIdProvider;
  /** Those of the app `ours` at the provider. */
  readonly settings: SettingsChange;
  /** A new active connector each time. */
  newConnector(changes?: SettingsChange): Promise<Connector>;
  /** @returns the callback URL, not requested */
  goToVendor(connector: Connector, by?: SignedIn, options?: Partial<DriveConsentOptions>): Promise<string>;
  connect(connector: Connector, by?: SignedIn, options?: Partial<DriveConsentOptions>): Promise<Finished>;
  statusOf(connector: Connector, by?: SignedIn): ReturnType<Connections["status"]>;
}

/** The provider knows two apps, `ours` and `other`. */
export async function openVendorConnect(): Promise<VendorConnect> {
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
  const goToVendor: VendorConnect["goToVendor"] = async (connector, by = FIRST, options = {}) => {
    const url = await startConnect(connector, by, platform);
    return (await driveConsent(url, { stopAt: (at) => at.href.startsWith(REDIRECT_URI), ...options })).href;
  };
  return {
    ...platform,
    provider,
    settings,
    newConnector: (changes = {}) => {
      made += 1;
      return platform.addConnector(`connector-${made}`, { ...settings, ...changes });
    },
    goToVendor,
    connect: async (connector, by = FIRST, options = {}) =>
      finishConnect(await goToVendor(connector, by, options), by, platform),
    statusOf: (connector, by = FIRST) => platform.connections.status(connector, by.user.id),
    close: async () => {
      await platform.close();
      await provider.close();
    },
  };
}
