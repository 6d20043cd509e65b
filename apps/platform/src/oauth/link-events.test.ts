/**
 * The platform reports connections that end and return, to a receiver that verifies with a library
 * of Standard Webhooks.
 */
import { createSecretKey } from "node:crypto";
import { Secret, systemTimer } from "@oauth-broker/oauth-core";
import { createLinkEvents } from "@oauth-broker/service/events";
import { startScriptedVendor } from "@oauth-broker/simulators";
import { Webhook } from "standardwebhooks";
import { ofEachTest } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { loadServeConfig } from "../config.ts";
import { openTestConnect } from "../testing/test-connect.ts";
import { CLIENT } from "../testing/test-storage.ts";
import { createConnections } from "./connections.ts";

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const USER = "first-user";

const platform = ofEachTest(openTestConnect);
const receiver = ofEachTest(() => startScriptedVendor({ "/links": () => ({ status: 204 }) }));
const events = ofEachTest(() =>
  createLinkEvents({
    ...platform,
    settings: { url: `${receiver.url}/links`, keys: [createSecretKey(Buffer.alloc(32, 7))] },
    timer: systemTimer,
    vendors: async () => (await platform.connectors.list()).map(({ id }) => id),
    log: { info: () => undefined, warn: () => undefined, error: () => undefined, flush: () => undefined },
  }),
);
const connections = ofEachTest(() => createConnections({ ...platform, events }));
const connector = ofEachTest(() =>
  platform.addConnector("github", { ...CLIENT, clientSecret: new Secret("secret-of-ours") }),
);

const TOKENS = {
  accessToken: "access-token-canary",
  refreshToken: "refresh-token-canary",
  tokenType: "Bearer",
  vendor: "github",
  connection: "",
  vendorData: {},
};

async function connect(): Promise<string> {
  await connections.save(connector, USER, TOKENS);
  return (await connections.open(connector, USER))?.revision ?? expect.fail("not connected");
}

/** @returns what the receiver got, each verified */
function verified(): readonly unknown[] {
  const webhook = new Webhook(SECRET);
  return receiver.received.map(({ body, headers }) => webhook.verify(body, headers as Record<string, string>));
}

describe("reconnect events of the platform", () => {
  it("report a connection that ends once, and that it is back", async () => {
    const used = await connect();
    await connections.markForReauthorization(connector, USER, "invalid_grant", used);
    await connections.markForReauthorization(connector, USER, "invalid_grant", used);
    await events.sweep();
    await connect();
    await events.sweep();
    const data = { user: USER, vendor: "github" };
    expect(verified()).toMatchObject([
      { type: "link.dead", data: { ...data, reason: "invalid_grant" } },
      { type: "link.restored", data },
    ]);
    expect(receiver.received.map(({ body }) => body).join("")).not.toContain("canary");
  });

  it("report a connection whose credentials were changed, when it is used", async () => {
    await connect();
    const changed = { ...connector, settings: { ...connector.settings, clientId: "another" } };
    expect(await connections.open(changed, USER)).toBeUndefined();
    expect(await connections.open(changed, USER)).toBeUndefined();
    await events.sweep();
    expect(verified()).toMatchObject([{ type: "link.dead", data: { reason: "credentials_changed" } }]);
  });

  it("say nothing of a refresh, a first connection, and tokens that others replaced", async () => {
    const used = await connect();
    await connections.save(connector, USER, TOKENS, { replacing: used });
    await connections.markForReauthorization(connector, USER, "invalid_grant", used);
    await events.sweep();
    expect(receiver.received).toEqual([]);
  });

  it("are refused by the receiver's library when forged or old", async () => {
    await connections.markForReauthorization(connector, USER, "invalid_grant", await connect());
    await events.sweep();
    const { body, headers } = receiver.received[0] ?? expect.fail("no event");
    const webhook = new Webhook(SECRET);
    const sent = headers as Record<string, string>;
    expect(() => webhook.verify(body.replace("github", "gitlab"), sent)).toThrow("No matching signature");
    const moved = (by: number) => ({ ...sent, "webhook-timestamp": `${Number(sent["webhook-timestamp"]) + by}` });
    expect(() => webhook.verify(body, moved(1))).toThrow("No matching signature");
    expect(() => webhook.verify(body, moved(-600))).toThrow("too old");
  });
});

describe("the platform's settings of events", () => {
  const platformConfig = { platformUrl: "http://127.0.0.1:8789", dataDir: "/data", allowCidrs: [] };
  const load = (environment: Record<string, string>) => loadServeConfig(environment, platformConfig).events;

  it("are both or none", () => {
    expect(load({})).toBeUndefined();
    const both = { EVENTS_URL: "https://backend.example/links", EVENTS_SECRET: SECRET };
    expect(load(both)).toMatchObject({ url: both.EVENTS_URL });
    expect(() => load({ EVENTS_URL: both.EVENTS_URL })).toThrow("EVENTS_SECRET");
    expect(() => load({ EVENTS_SECRET: SECRET })).toThrow("EVENTS_URL");
    expect(() => load({ ...both, EVENTS_URL: "http://backend.example/links" })).toThrow("EVENTS_URL");
  });
});
