/** A vendor that ends an endpoint on an announced day: the same broker on both sides of that day. */
import type { Sunset } from "@oauth-broker/oauth-core/registry";
import { describe, expect, it } from "vitest";
import type { VendorConfig } from "../config.ts";
import { issueTokens, NOW, testBroker, type TestBroker, testVendor } from "../testing/test-broker.ts";

const URLS = ["https://acme.example/v1/"];
const V1 = { authorizationEndpoint: `${URLS[0]}authorize`, tokenEndpoint: `${URLS[0]}token` };
/** The test's clock begins on the day before, at 22:13:20 UTC. */
const SUNSET: Sunset = { endsOn: "2023-11-15", what: "version 1", urls: URLS, source: "https://acme.example/news" };
const SECONDS_LEFT = Date.parse(SUNSET.endsOn) / 1000 - NOW;

const brokerWith = async (sunset: Sunset, vendor: Partial<VendorConfig["vendor"]> = V1): Promise<TestBroker> => {
  const entry = testVendor({ ...vendor, revocationEndpoint: "https://acme.example/v1/revoke" });
  return testBroker({
    config: { vendors: new Map([["acme", { ...entry, sunsets: [sunset] }]]) },
    client: { allowOverrides: true },
    vendorAnswers: issueTokens,
  });
};

describe("an endpoint that the vendor ends", () => {
  it("starts flows up to the last second before the day, and none from then on", async () => {
    const { push, post, now, deps } = await brokerWith(SUNSET);
    const explain = () => post("/v1/explain", { vendor: "acme" });
    now.advance(SECONDS_LEFT - 1);
    expect(deps.now()).toBe(now());
    expect((await push()).response.status).toBe(201);
    expect((await explain()).response.status).toBe(200);
    now.advance(1);
    for (const { response, body } of [await push(), await explain()]) {
      expect(response.status).toBe(400);
      expect(body).toMatchObject({
        error: "unauthorized_client",
        error_description: "The vendor has ended version 1 on 2023-11-15; refresh and revoke go on",
      });
    }
  });

  it("refreshes and revokes after the day, and finishes a flow that began before", async () => {
    const { now, start, land, redeem, refresh, post } = await brokerWith(SUNSET);
    now.advance(SECONDS_LEFT - 1);
    const started = await start();
    now.advance(2);
    const { body } = await redeem(await land(started));
    const connection = String(body["connection"]);
    const refreshed = await refresh({ connection });
    expect(refreshed.body).toMatchObject({ access_token: "at" });
    expect((await post("/v1/revoke", { token: "rt", connection })).response.status).toBe(200);
  });

  it("is in every view of the vendor that takes no new authorizations, from the day on", async () => {
    const { get, now } = await brokerWith(SUNSET);
    const accepts = async (path: string): Promise<unknown> => {
      const body = JSON.parse((await get(path)).html) as Record<string, unknown>;
      const [one] = (body["vendors"] as Record<string, unknown>[] | undefined) ?? [body];
      return one?.["accepts_new_authorizations"];
    };
    const paths = ["/v1/vendors", "/v1/vendors?q=acme", "/v1/vendors/acme"];
    now.advance(SECONDS_LEFT - 1);
    expect(await Promise.all(paths.map(accepts))).toEqual([true, true, true]);
    now.advance(1);
    expect(await Promise.all(paths.map(accepts))).toEqual([false, false, false]);
  });

  it.each<[string, Sunset, Partial<VendorConfig["vendor"]>]>([
    ["has no endpoint among those that end", SUNSET, { authorizationEndpoint: "https://acme.example/v2/a" }],
    ["ends only what was issued earlier", { endsOn: "2023-11-15", what: "old tokens", source: SUNSET.source }, V1],
  ])("goes on where the entry %s", async (_, sunset, vendor) => {
    const { push, now } = await brokerWith(sunset, vendor);
    now.advance(SECONDS_LEFT);
    expect((await push()).response.status).toBe(201);
  });

  it("is refused where the request names it in place of the entry's", async () => {
    const { push, now } = await brokerWith(SUNSET, {});
    const old = { token_endpoint: V1.tokenEndpoint, vendor_client_id: "mine", vendor_client_secret: "s" };
    expect((await push(old)).response.status).toBe(201);
    now.advance(SECONDS_LEFT);
    expect((await push(old)).body).toMatchObject({ error: "unauthorized_client" });
    expect((await push()).response.status).toBe(201);
  });
});
