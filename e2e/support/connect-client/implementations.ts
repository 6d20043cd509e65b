/** The two implementations that the contract of a connect client is run on. */
import { createBrokerClient } from "@oauth-broker/broker-client";
import { defineVendor, direct, type DirectClient } from "@oauth-broker/broker-client/direct";
import { fixedClock } from "@oauth-broker/oauth-core/testing";
import {
  type ScriptedRequest,
  type ScriptedVendor,
  startOpenIdProvider,
  startScriptedVendor,
} from "@oauth-broker/simulators";
import { OTHER_REDIRECT_URI, REDIRECT_URI } from "../broker/configuration.ts";
import { startHarness } from "../broker/harness.ts";
import { random } from "../broker/platform.ts";
import { freePort } from "../free-port.ts";
import type { ConnectHarness, Gate } from "./harness.ts";

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
  const gate = await openGate(port, harness.vendor.issuer);
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
  const port = await freePort();
  const gate = await openGate(port, issuer);
  const authorizationEndpoint = `${issuer}/auth`;
  const behind = { ...entry, authorizationEndpoint, tokenEndpoint: `http://127.0.0.1:${port}/token` };
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

/** In front of a vendor's token endpoint: while it is shut, connections are refused, as by a machine that is down. */
async function openGate(port: number, issuer: string): Promise<Gate> {
  let standing: ScriptedVendor | undefined;
  const open = async (): Promise<void> => {
    const token = async ({ body, headers: { authorization = "", "content-type": type = "" } }: ScriptedRequest) => {
      const headers = { authorization, "content-type": type };
      const answer = await fetch(`${issuer}/token`, { method: "POST", headers, body });
      return { status: answer.status, body: (await answer.json()) as object };
    };
    standing = await startScriptedVendor({ "/token": token }, { port });
  };
  const shut = async (): Promise<void> => {
    await standing?.close();
    standing = undefined;
  };
  await open();
  return { open, shut };
}
