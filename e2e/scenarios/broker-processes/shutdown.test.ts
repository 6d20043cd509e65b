/**
 * SIGTERM: readiness fails first, new connections are refused after the grace period, requests in
 * flight are finished, exit code 0.
 */
import { startFakeVendor } from "@oauth-broker/simulators";
import { patience, shared } from "@oauth-broker/oauth-core/testing";
import { beforeAll, describe, expect, it } from "vitest";
import { type BrokerProcess, startBrokerProcess } from "../../support/broker/process.ts";
import { brokerYaml, createSecrets, vendorEntry } from "../../support/broker/configuration.ts";
import { freePort } from "../../support/free-port.ts";
import { startHeldVendor } from "../../support/vendors/held-vendor.ts";
import { createPlatform, send } from "../../support/broker/platform.ts";

const secrets = createSecrets();
const stub = shared(() => startFakeVendor({ codes: "any" }));
const held = shared(startHeldVendor);
let baseUrl: string;
let broker: BrokerProcess;

beforeAll(async () => {
  baseUrl = `http://127.0.0.1:${await freePort()}`;
  const { authorizationEndpoint, url: issuer } = stub;
  const vendors = vendorEntry("held", { authorizationEndpoint, tokenEndpoint: held.tokenEndpoint }, secrets);
  broker = await startBrokerProcess({ yaml: brokerYaml({ baseUrl, secrets, issuer, vendors }) });
});

const readiness = (): Promise<number> =>
  send(`${baseUrl}/readyz`).then(
    ({ status }) => status,
    () => 0,
  );

describe("SIGTERM while the vendor has not answered yet", () => {
  it("finishes that request, refuses new ones, and exits 0", async () => {
    const platform = createPlatform({ baseUrl, clientSecret: secrets.platform, vendor: "held" });
    const flow = await platform.toPlatform();
    const redeeming = platform.redeem(flow);
    await held.received;
    expect(await readiness()).toBe(200);
    broker.signal("SIGTERM");
    for (const status of [503, 0])
      await expect.poll(readiness, { interval: 25, timeout: patience(5_000) }).toBe(status);
    held.release();
    const answer = await redeeming;
    expect(answer).toMatchObject({ status: 200, body: { access_token: "held-access-token" } });
    await broker.stop();
    expect(await broker.exited()).toBe(0);
  });
});
