/**
 * A broker behind a forward proxy: vendors of its own configuration are reached through it, and what
 * a request names is not, because no address of the name can be checked.
 */
import type { Config } from "../config.ts";
import { Secret } from "@oauth-broker/oauth-core";
import { describe, expect, it } from "vitest";
import { issueTokens, testBroker, testVendor } from "../testing/test-broker.ts";

const BYOC = { vendor_client_id: "mine", vendor_client_secret: "their secret" };
const ENDPOINTS = {
  authorization_endpoint: "https://tenant.example/authorize",
  token_endpoint: "https://tenant.example/token",
};
const entry = (id: string, host: string, placeholders: object) => ({
  ...testVendor({ id, authorizationEndpoint: `https://${host}/authorize`, tokenEndpoint: `https://${host}/token` }),
  placeholders,
});
const vendors = new Map([
  ["acme", testVendor()],
  ["label", entry("label", "{shop}.shops.example", { shop: {} })],
  ["host", entry("host", "{host}", { host: { kind: "host" } })],
]) as Config["vendors"];
const egress = { allowLoopback: false, allowCidrs: [], timeoutMs: 10_000 };
const PROXIED = { vendors, egress: { ...egress, proxy: new Secret("http://proxy.internal:3128") } };
const behind = async (config: Partial<Config>) => testBroker({ config, vendorAnswers: issueTokens });
const shop = { vendor: "label", placeholders: '{"shop":"mine"}' };

describe("behind a proxy", () => {
  it.each<[string, Record<string, string>]>([
    ["an entry", {}],
    ["an entry with credentials of the caller's", BYOC],
    ["a name under the entry's own domain", { ...shop, ...BYOC }],
  ])("bar#EG-11 %s is reached through it", async (_what, form) => {
    const { park, redeem, seen } = await behind(PROXIED);
    const { body } = await redeem(await park(form), form["vendor_client_id"] === undefined ? {} : BYOC);
    expect(body).toMatchObject({ access_token: "at" });
    expect(seen.map(({ isUntrusted }) => isUntrusted)).toEqual([false]);
  });

  it.each<[string, Record<string, string>]>([
    ["endpoints of the request", { vendor: "", ...ENDPOINTS, ...BYOC }],
    ["an issuer of the request", { vendor: "", issuer: "https://issuer.example", ...BYOC }],
    ["one endpoint of the request at an entry", { vendor: "acme", token_endpoint: ENDPOINTS.token_endpoint, ...BYOC }],
    ["a host of the request", { vendor: "host", placeholders: '{"host":"tenant.example"}', ...BYOC }],
  ])("bar#EG-11 %s is unauthorized_client, and nothing is sent", async (_what, form) => {
    const { push, post, seen } = await behind(PROXIED);
    for (const { response, body } of [await push(form), await post("/v1/explain", form)]) {
      const refused = { error: "unauthorized_client", error_description: expect.stringContaining("through a proxy") };
      expect([response.status, body]).toMatchObject([400, refused]);
    }
    expect(seen).toEqual([]);
    expect((await (await behind({ vendors })).push(form)).body["error"]).not.toBe("unauthorized_client");
  });

  it("bar#EG-11 a connection from before at an endpoint of a request is not sent through it", async () => {
    const broker = await behind({ vendors });
    const { body } = await broker.redeem(await broker.park({ vendor: "", ...ENDPOINTS, ...BYOC }), BYOC);
    // The same keys, after a restart behind a proxy.
    Object.assign(broker.deps, { isProxied: true });
    await broker.refresh({ connection: String(body["connection"]), ...BYOC });
    expect(broker.seen.map(({ url, isUntrusted }) => [url, isUntrusted])).toEqual([
      [ENDPOINTS.token_endpoint, true],
      [ENDPOINTS.token_endpoint, true],
    ]);
  });

  it("bar#EG-11 a flow from before, of which a request named a part, is redeemed without it", async () => {
    const broker = await behind({ vendors });
    const { authorization_endpoint } = ENDPOINTS;
    const code = await broker.park({ authorization_endpoint, ...BYOC });
    Object.assign(broker.deps, { isProxied: true });
    await broker.redeem(code, BYOC);
    expect(broker.seen.map(({ url, isUntrusted }) => [url, isUntrusted])).toEqual([
      ["https://acme.example/token", true],
    ]);
  });
});
