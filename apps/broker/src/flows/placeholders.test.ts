/**
 * {placeholders} of a vendor's entry, filled per flow: part of its context, kept with the flow and
 * in `connection`.
 */
import type { PlaceholderSpecs } from "@oauth-broker/oauth-core/protocol";
import type { Vendor } from "@oauth-broker/oauth-core/registry";
import { describe, expect, it } from "vitest";
import type { VendorConfig } from "../config.ts";
import { flowIdOf, ISSUER, issueTokens, testBroker, testVendor } from "../testing/test-broker.ts";
import { asFlow } from "./flow-record.ts";

const OWN = { vendor_client_id: "mine", vendor_client_secret: "their secret" };

function entry(vendor: Partial<Vendor>, placeholders: PlaceholderSpecs): VendorConfig {
  const at = "https://{tenant}.acme.example/{region}";
  const endpoints = { authorizationEndpoint: `${at}/authorize`, tokenEndpoint: `${at}/token` };
  return { ...testVendor({ ...endpoints, ...vendor }), placeholders };
}

const SPECS: PlaceholderSpecs = { tenant: { pattern: "[a-z]{1,20}" }, region: { values: ["eu", "us"], default: "eu" } };

async function brokerOf(one: VendorConfig = entry({}, SPECS)) {
  const vendors = new Map([["acme", one]]);
  return { ...(await testBroker({ config: { vendors }, vendorAnswers: issueTokens })), vendors };
}

const given = (values: Record<string, string>) => ({ placeholders: JSON.stringify(values) });

describe("a vendor whose authorization page names the client", () => {
  const named = entry(
    {
      authorizationEndpoint: "https://acme.example/apps/{client_id}/authorize",
      tokenEndpoint: "https://acme.example/token",
    },
    {},
  );

  it("names the client of the flow, the broker's or the caller's own", async () => {
    const { start, connect } = await brokerOf(named);
    const ours = await start();
    expect(ours.location?.pathname).toBe("/apps/ours/authorize");
    expect(ours.location?.searchParams.get("client_id")).toBe("ours");
    expect((await start(OWN)).location?.pathname).toBe("/apps/mine/authorize");
    expect((await connect()).body).toMatchObject({ access_token: "at" });
  });

  it.each(["..", "a/b", "a%2fb", "a?b", "{tenant}", "a b"])(
    "takes no client id that would change the address: %s",
    async (id) => {
      const { push } = await brokerOf(named);
      const { response, body } = await push({ ...OWN, vendor_client_id: id });
      expect([response.status, body["error"]]).toEqual([400, "invalid_request"]);
    },
  );
});

describe("a vendor with placeholders", () => {
  it("is filled per flow, defaults included, on every leg and afterwards", async () => {
    const { start, land, redeem, refresh, seen, vendors } = await brokerOf();
    const started = await start(given({ tenant: "blue", region: "" }));
    expect(started.location?.href).toMatch(/^https:\/\/blue\.acme\.example\/eu\/authorize\?/);
    const { body } = await redeem(await land(started));
    // A default that changes later must not apply to a token minted before.
    vendors.set("acme", entry({}, { ...SPECS, region: { values: ["eu", "us"], default: "us" } }));
    const connection = String(body["connection"]);
    expect((await refresh({ connection })).response.status).toBe(200);
    expect(seen.map(({ url }) => url)).toEqual(Array(2).fill("https://blue.acme.example/eu/token"));
    const other = await refresh({ connection, ...given({ tenant: "red" }) });
    expect(other.body["error"]).toBe("invalid_request");
    expect((await refresh({ connection, ...given({ tenant: "blue" }) })).response.status).toBe(200);
  });

  it("is explained: every value and where it came from", async () => {
    const { post } = await brokerOf();
    const { body } = await post("/v1/explain", { vendor: "acme", ...given({ tenant: "blue" }) });
    expect(body).toMatchObject({
      tier: 1,
      redirect_uri: `${ISSUER}/v1/callback`,
      endpoints: { token_endpoint: "https://blue.acme.example/eu/token" },
      placeholders: { tenant: "blue", region: "eu" },
      sources: { "placeholders.tenant": "request", "placeholders.region": "default", token_endpoint: "configuration" },
    });
  });

  it.each<[string, Record<string, string>, string]>([
    ["a missing one", {}, "placeholder tenant is missing"],
    ["an empty one", { tenant: "" }, "placeholder tenant is missing"],
    ["an unknown one", { tenant: "blue", zone: "x" }, "placeholder zone is not one of this vendor"],
    ["a value beyond its pattern", { tenant: "Blue" }, "placeholder tenant has a value that does not fit"],
    ["a value not on the list", { tenant: "blue", region: "cn" }, "placeholder region has a value that does not fit"],
  ])("names %s", async (_, values, description) => {
    const { push, seen } = await brokerOf();
    expect((await push(given(values))).body).toEqual({ error: "invalid_request", error_description: description });
    expect(seen).toEqual([]);
  });

  it("bar#XA-5 keeps flows of one tenant from another", async () => {
    const { start, deps, callback } = await brokerOf();
    const { state, cookie } = await start(given({ tenant: "blue" }));
    const key = { kind: "flow", id: flowIdOf(cookie) };
    const record = await deps.records.get(key);
    const requestHash = record === undefined ? "" : asFlow(record).requestHash;
    const set = { placeholders: { tenant: "red", region: "eu" }, requestHash: "x" };
    const from = { stage: "started", expect: { requestHash } };
    expect(await deps.records.advance(key, from, { stage: "started", set })).toMatchObject({ outcome: "moved" });
    expect((await callback({ state, code: "c" }, cookie)).html).toContain("context_mismatch");
  });

  it("checks values that only the server's URL has, and binds them too", async () => {
    const server = "https://mcp.acme.example/{environment}";
    const specs = { ...SPECS, environment: { pattern: "[0-9]+" } };
    const { push, post } = await brokerOf({ ...entry({}, specs), serverUrl: server });
    expect((await push(given({ tenant: "blue", environment: "7" }))).response.status).toBe(201);
    expect((await push(given({ tenant: "blue" }))).response.status).toBe(201);
    for (const environment of ["x", "../7", "7?x"]) {
      expect((await push(given({ tenant: "blue", environment }))).body["error"]).toBe("invalid_request");
    }
    const { body } = await post("/v1/explain", { vendor: "acme", ...given({ tenant: "blue", environment: "7" }) });
    expect(body["placeholders"]).toEqual({ tenant: "blue", region: "eu", environment: "7" });
  });

  it("leaves alone what a dialect fills in itself", async () => {
    const issuer = "https://login.acme.example/{tenantid}/v2.0";
    const revocationEndpoint = "https://acme.example/apps/{client_id}/token";
    const own = { issuer, revocationEndpoint, issRequired: false };
    const { post } = await brokerOf(entry(own, SPECS));
    const { body } = await post("/v1/explain", { vendor: "acme", ...given({ tenant: "blue" }) });
    expect(body["endpoints"]).toMatchObject({ issuer, revocation_endpoint: revocationEndpoint });
    const refused = await post("/v1/explain", { vendor: "acme", ...given({ tenant: "blue", tenantid: "x" }) });
    expect(refused.body["error"]).toBe("invalid_request");
  });

  it("reaches listed hosts as the operator's, others as hosts of a request", async () => {
    const isUntrusted = async (tenant: PlaceholderSpecs[string], form: Record<string, string>) => {
      const { connect, seen } = await brokerOf(entry({}, { ...SPECS, tenant }));
      await connect(form);
      return seen.map((request) => request.isUntrusted);
    };
    expect(await isUntrusted({ pattern: "[a-z]{1,20}" }, given({ tenant: "blue" }))).toEqual([true]);
    expect(await isUntrusted({ values: ["blue"] }, given({ tenant: "blue" }))).toEqual([false]);
    expect(await isUntrusted({ default: "blue" }, {})).toEqual([false]);
  });
});

describe("a placeholder that can fill a registrable domain", () => {
  const whole = entry(
    { authorizationEndpoint: "https://{host}/authorize", tokenEndpoint: "https://{host}/token", redeemAt: "callback" },
    { host: { kind: "host" } },
  );

  it("bar#XA-2 makes the vendor tier 3: BYOC, its own path, parked codes", async () => {
    const { push, post, seen } = await brokerOf(whole);
    const form = given({ host: "acme.tenant.example" });
    expect((await push(form)).body).toMatchObject({ error: "unauthorized_client", reason: "override_not_allowed" });
    const { body } = await post("/v1/explain", { vendor: "acme", ...form, ...OWN });
    expect(body).toMatchObject({
      vendor: "acme",
      tier: 3,
      redirect_uri: expect.stringMatching(/\/v1\/custom\/[\w-]{22}\/callback$/),
      token_request: { redeem_at: "token" },
    });
    expect(seen).toEqual([]);
  });

  it("bar#EG-7 is held to the rules for URLs of a request", async () => {
    const { push, seen } = await brokerOf(whole);
    const local = ["127.0.0.1", "localhost", "vault.internal", "db"];
    for (const host of [...local, "acme.example:444", "a.example/x", "broker.example"]) {
      const { body } = await push({ ...given({ host }), ...OWN });
      expect([host, body["error"]]).toEqual([host, "invalid_request"]);
    }
    expect(seen).toEqual([]);
  });
});
