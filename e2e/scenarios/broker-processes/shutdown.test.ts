/**
 * SIGTERM: readiness fails first, new connections are refused after the grace period, requests in
 * flight are finished, exit code 0.
 */
import { startFakeVendor, type FakeVendorServer } from "@oauth-broker/simulators";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type BrokerProcess, startBrokerProcess } from "../../support/broker/process.ts";
import { brokerYaml, createSecrets } from "../../support/broker/configuration.ts";
import { freePort } from "../../support/free-port.ts";
import { type HeldVendor, startHeldVendor } from "../../support/vendors/held-vendor.ts";
import { createPlatform, send } from "../../support/broker/platform.ts";

const secrets = createSecrets();
let baseUrl: string;
let stub: FakeVendorServer;
let held: HeldVendor;
let broker: BrokerProcess;

beforeAll(async () => {
  baseUrl = `http://127.0.0.1:${await freePort()}`;
  stub = await startFakeVendor({ codes: "any" });
  held = await startHeldVendor();
  const yaml = brokerYaml({
    baseUrl,
    secrets,
    issuer: stub.url,
    vendors: `
  held:
    name: Held
    authorization_endpoint: ${stub.authorizationEndpoint}
    token_endpoint: ${held.tokenEndpoint}
    credentials: { client_id: broker, client_secret: ${secrets.vendor} }`,
  });
  broker = await startBrokerProcess({ yaml });
});
afterAll(async () => {
  await held.close();
  await stub.close();
});

const readiness = (): Promise<number> =>
  send(`${baseUrl}/readyz`).then(
    ({ status }) => status,
    () => 0,
  );

async function until(status: number): Promise<void> {
  for (let polls = 0; polls < 200; polls += 1) {
    if ((await readiness()) === status) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`/readyz never answered ${status}`);
}

describe("SIGTERM while the vendor has not answered yet", () => {
  it("finishes that request, refuses new ones, and exits 0", async () => {
    const platform = createPlatform({ baseUrl, clientSecret: secrets.platform, vendor: "held" });
    const flow = await platform.toPlatform();
    const redeeming = platform.redeem(flow);
    await held.received;
    expect(await readiness()).toBe(200);
    broker.signal("SIGTERM");
    await until(503);
    await until(0);
    held.release();
    const answer = await redeeming;
    expect(answer).toMatchObject({ status: 200, body: { access_token: "held-access-token" } });
    await broker.stop();
    expect(await broker.exited()).toBe(0);
  });
});
