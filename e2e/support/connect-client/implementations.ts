/** The two implementations that the contract of a connect client is run on. */
import { createBrokerClient } from "@oauth-broker/broker-client";
import { defineVendor, direct, type DirectClient } from "@oauth-broker/broker-client/direct";
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import { startOpenIdProvider } from "@oauth-broker/simulators";
import { OTHER_REDIRECT_URI, REDIRECT_URI } from "../broker/configuration.ts";
import { createGate } from "../broker/gate.ts";
import { startHarness } from "../broker/harness.ts";
import { random } from "../broker/platform.ts";
import { freePort } from "../free-port.ts";
import type { ConnectHarness } from "./harness.ts";

/** The broker's client, at a broker in this process. */
export async function openThroughBroker(): Promise<ConnectHarness> {
  const port = await freePort();
  const harness = await startHarness((at, { vendor: secret }) => ({
    vendors: `  gated:
    name: Behind a door
    issuer: ${at}
    authorization_endpoint: ${at}/auth
    token_endpoint: http://127.0.0.1:${port}/token
    rotates_refresh_tokens: true
    credentials: { client_id: broker, client_secret: ${secret} }`,
  }));
  const gate = createGate(port, harness.vendor.port);
  await gate.open();
  const { baseUrl: issuer, now, secrets, vendor } = harness;
  const make = (clientId: "platform" | "other" = "platform") => {
    const redirectUri = clientId === "other" ? OTHER_REDIRECT_URI : REDIRECT_URI;
    return createBrokerClient({ issuer, clientId, clientSecret: secrets[clientId], redirectUri, now });
  };
  return {
    client: make(),
    again: () => make(),
    other: () => make("other"),
    vendor,
    gated: { client: make(), vendor: "gated", gate },
    now,
    close: async () => {
      await gate.shut();
      await harness.close();
    },
  };
}

/** `direct`: the backend has its own client at the vendor. */
export async function openDirectly(): Promise<ConnectHarness> {
  const clientSecret = random("vendor secret");
  const clients = ["deployment", "other"].map((clientId) => ({ clientId, clientSecret, redirectUris: [REDIRECT_URI] }));
  const vendor = await startOpenIdProvider({ clients });
  const { issuer } = vendor;
  const now = fixedClock(Math.floor(Date.now() / 1000));
  const scopes = { defaultScopes: ["openid", "api:read"], rotatesRefreshTokens: true };
  const entry = defineVendor({ id: "op", name: "OpenID Provider", issuer, ...scopes });
  const make = (clientId = "deployment", of = entry): DirectClient => {
    const credentials = { clientId, clientSecret };
    return direct({ vendor: of, credentials, redirectUri: REDIRECT_URI, egress: { allowLoopback: true }, now });
  };
  const gate = createGate(await freePort(), vendor.port);
  await gate.open();
  const authorizationEndpoint = `${issuer}/auth`;
  const behind = { ...entry, authorizationEndpoint, tokenEndpoint: `${gate.url}/token` };
  return {
    client: make(),
    again: () => make(),
    other: () => make("other"),
    vendor,
    gated: { client: make("deployment", behind), vendor: "op", gate },
    now,
    close: async () => {
      await gate.shut();
      // The clients stay open to show what a backend gets from a vendor that has stopped.
      await vendor.close();
    },
  };
}
