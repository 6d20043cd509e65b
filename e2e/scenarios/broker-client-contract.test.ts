/** The contract of a connect client, over both who keep it: through the broker, and directly. */
import { createBrokerClient } from "@oauth-broker/broker-client";
import { defineVendor, direct, type DirectClient } from "@oauth-broker/broker-client/direct";
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { startOpenIdProvider } from "@oauth-broker/simulators";
import { OTHER_REDIRECT_URI, REDIRECT_URI } from "../support/configuration.ts";
import { describeConnectClient } from "../support/connect-contract.ts";
import { startScene } from "../support/scene.ts";
import { random } from "../support/platform.ts";

describeConnectClient("through the broker", async () => {
  const scene = await startScene();
  const { baseUrl: issuer, now, secrets, vendor } = scene;
  const make = () =>
    createBrokerClient({
      issuer,
      clientId: "platform",
      clientSecret: secrets.platform,
      redirectUri: REDIRECT_URI,
      now,
    });
  return {
    client: make(),
    again: make,
    other: () =>
      createBrokerClient({
        issuer,
        clientId: "other",
        clientSecret: secrets.other,
        redirectUri: OTHER_REDIRECT_URI,
        now,
      }),
    vendor,
    issuer,
    now,
    close: scene.close,
  };
});

describeConnectClient("directly", async () => {
  const clientSecret = random("vendor secret");
  const clients = ["deployment", "other"].map((clientId) => ({ clientId, clientSecret, redirectUris: [REDIRECT_URI] }));
  const vendor = await startOpenIdProvider({ clients });
  const { issuer } = vendor;
  const now = fixedClock(Math.floor(Date.now() / 1000));
  const entry = defineVendor({
    id: "op",
    name: "OpenID Provider",
    issuer,
    defaultScopes: ["openid", "api:read"],
    rotatesRefreshTokens: true,
  });
  const opened: DirectClient[] = [];
  const make = (clientId = "deployment") => {
    const credentials = { clientId, clientSecret };
    const egress = { allowLoopback: true };
    const client = direct({ vendor: entry, credentials, redirectUri: REDIRECT_URI, egress, now });
    opened.push(client);
    return client;
  };
  return {
    client: make(),
    again: () => make(),
    other: () => make("other"),
    vendor,
    issuer,
    now,
    close: async () => {
      // The clients live on for a while: what a backend gets that asks a vendor that is gone.
      await vendor.close();
    },
  };
});
