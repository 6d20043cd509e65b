/**
 * Which endpoints of a request are the vendor's own: those that are, character for character, what
 * the entry, its metadata or the operator's file states. Everything else is tier 3, on the vendor's
 * hosts too.
 */
import type { PlaceholderSpecs } from "@oauth-broker/oauth-core/protocol";
import { defineVendor, REGISTRY, type Vendor } from "@oauth-broker/oauth-core/registry";
import { describe, expect, it } from "vitest";
import type { VendorConfig } from "../config.ts";
import { sealConnection } from "../grants/connection.ts";
import { issueTokens, testBroker, testVendor, WAYS } from "../testing/test-broker.ts";

const OWN = { vendor_client_id: "mine", vendor_client_secret: "their secret" };
const CUSTOM_PATH = expect.stringMatching(/^https:\/\/broker\.example\/v1\/custom\/[\w-]{22}\/callback$/);

const known = (id: string): VendorConfig => {
  const { vendor, placeholders } = REGISTRY.get(id) ?? expect.fail(`no ${id}`);
  return { ...testVendor(), vendor: { ...vendor, enabled: true }, placeholders };
};

function entry(vendor: Partial<Vendor>, placeholders: PlaceholderSpecs = {}): VendorConfig {
  return { ...testVendor(), vendor: defineVendor({ id: "acme", name: "Acme", ...vendor }), placeholders };
}

async function explained(one: VendorConfig, form: Record<string, string>, documents: Record<string, object> = {}) {
  const { post, seen } = await testBroker({
    config: { vendors: new Map([["acme", one]]) },
    vendorAnswers: async (input) => {
      const document = documents[String(input)];
      return document === undefined ? Response.json({}, { status: 404 }) : Response.json(document);
    },
  });
  const { body } = await post("/v1/explain", { vendor: "acme", ...form });
  return { body, seen };
}

const SHOPIFY = { placeholders: JSON.stringify({ shop: "attacker" }) };
const SERVICE_NOW = { placeholders: JSON.stringify({ instance: "attacker" }) };

describe("bar#XA-4 an endpoint of the request on a host of the vendor", () => {
  it.each<[string, Record<string, string>]>([
    ["shopify", { ...SHOPIFY, authorization_endpoint: "https://attacker.myshopify.com/apps/evil/bounce" }],
    ["shopify", { ...SHOPIFY, token_endpoint: "https://{shop}.myshopify.com/apps/evil/collect" }],
    ["servicenow", { ...SERVICE_NOW, authorization_endpoint: "https://attacker.service-now.com/api/x/bounce" }],
    ["discord", { token_endpoint: "https://discord.com/api/webhooks/1/x" }],
    ["slack", { token_endpoint: "https://slack.com/api/chat.postMessage?token=x" }],
    ["github", { authorization_endpoint: "https://github.com/attacker/anything" }],
  ])("is tier 3 with credentials of one's own, and nothing without: %s %j", async (id, form) => {
    const one = known(id);
    const own = await explained(one, { ...form, ...OWN });
    expect(own.body).toMatchObject({ tier: 3, redirect_uri: CUSTOM_PATH, tier_reason: expect.any(String) });
    const shared = await explained(one, form);
    expect(shared.body).toMatchObject({ error: "unauthorized_client", reason: "override_not_allowed" });
    expect(shared.seen).toEqual([]);
  });

  const PAGE = "https://blue.acme.example/authorize";
  const TEMPLATES = {
    authorizationEndpoint: "https://{tenant}.acme.example/authorize",
    tokenEndpoint: "https://{tenant}.acme.example/token",
  };
  const BLUE = { placeholders: JSON.stringify({ tenant: "blue" }) };

  const paths = [
    "Authorize",
    "%61uthorize",
    "authorize/",
    "/authorize",
    "authorize?",
    "authorize?x=1",
    "x/../authorize",
  ];
  const hosts = [
    "BLUE.acme.example",
    "blue.acme.example:443",
    "blue.acme.example.",
    "red.acme.example",
    "acme.example",
  ];
  it.each([
    ...paths.map((path) => `https://blue.acme.example/${path}`),
    ...hosts.map((host) => `https://${host}/authorize`),
  ])("is no other spelling of the entry's own: %s", async (authorization_endpoint) => {
    for (const more of [{}, OWN]) {
      const { body } = await explained(entry(TEMPLATES, { tenant: {} }), { ...BLUE, ...more, authorization_endpoint });
      // Some are no URL that is ever requested.
      expect(body["tier"] ?? body["error"]).toBeOneOf([3, "invalid_request", "unauthorized_client"]);
      expect(body["redirect_uri"]).not.toBe("https://broker.example/v1/callback");
    }
  });

  it.each([PAGE, "https://{tenant}.acme.example/authorize"])("is tier 1 as the entry fills it: %s", async (page) => {
    const { body } = await explained(entry(TEMPLATES, { tenant: {} }), { ...BLUE, authorization_endpoint: page });
    expect(body).toMatchObject({ tier: 1, endpoints: { authorization_endpoint: PAGE } });
  });

  it("is tier 1 where the operator's file states it, and explain says from where", async () => {
    const page = "https://attacker.acme.example/apps/own/start";
    const { body } = await explained(entry({ ...TEMPLATES, authorizationEndpoint: page }, { tenant: {} }), {
      ...BLUE,
      token_endpoint: "https://blue.acme.example/token",
    });
    expect(body).toMatchObject({
      tier: 1,
      credentials: { source: "shared" },
      endpoints: { authorization_endpoint: page },
      sources: { authorization_endpoint: "configuration", token_endpoint: "request" },
    });
  });
});

describe("an endpoint that the entry leaves to its metadata", () => {
  const ISSUER = "https://id.acme.example";
  const METADATA = {
    issuer: ISSUER,
    authorization_endpoint: `${ISSUER}/authorize`,
    token_endpoint: `${ISSUER}/token`,
    response_types_supported: ["code"],
  };
  const documents = { [`${ISSUER}/.well-known/openid-configuration`]: METADATA };

  it("is the vendor's own as the metadata has it", async () => {
    const { authorization_endpoint, token_endpoint } = METADATA;
    const { body } = await explained(entry({ issuer: ISSUER }), { authorization_endpoint, token_endpoint }, documents);
    expect(body).toMatchObject({ tier: 1, credentials: { source: "shared" }, endpoints: { token_endpoint } });
  });

  it("bar#XA-2 bar#XA-4 is the caller's in any other spelling", async () => {
    const form = { token_endpoint: `${ISSUER}/Token` };
    const shared = await explained(entry({ issuer: ISSUER }), form, documents);
    expect(shared.body).toMatchObject({ error: "unauthorized_client", reason: "override_not_allowed" });
    expect((await explained(entry({ issuer: ISSUER }), { ...form, ...OWN }, documents)).body["tier"]).toBe(3);
  });
});

describe("metadata of an issuer that the request fills", () => {
  const issuer = "https://{tenant}.acme.example";
  const BLUE = "https://blue.acme.example";
  const SOUND = {
    issuer: BLUE,
    authorization_endpoint: "https://login.acme.example/authorize",
    token_endpoint: `${BLUE}/token`,
    response_types_supported: ["code"],
  };
  const ask = (changes: object, more: Record<string, string>, specs: PlaceholderSpecs = { tenant: {} }) =>
    explained(
      entry({ issuer }, specs),
      { placeholders: JSON.stringify({ tenant: "blue" }), ...more },
      { [`${BLUE}/.well-known/openid-configuration`]: { ...SOUND, ...changes } },
    );

  it("is tier 1 below the domain that the entry pins", async () => {
    expect((await ask({}, {})).body).toMatchObject({ tier: 1, credentials: { source: "shared" } });
  });

  it.each([
    { authorization_endpoint: "https://evil.example/authorize" },
    { token_endpoint: "https://evil.example/token" },
    { revocation_endpoint: "https://evil.example/revoke" },
    { introspection_endpoint: "https://acme.example.evil.example/introspect" },
  ])("bar#XA-2 bar#XA-4 is tier 3 elsewhere, without the broker's credentials: %j", async (changes) => {
    expect((await ask(changes, {})).body).toMatchObject({ error: "unauthorized_client" });
    const { body } = await ask(changes, OWN);
    const tier_reason = expect.stringContaining("metadata") as string;
    expect(body).toMatchObject({ tier: 3, redirect_uri: CUSTOM_PATH, tier_reason });
  });

  it("is the operator's choice where the entry lists the values", async () => {
    const listed = { tenant: { values: ["blue"] } };
    const { body } = await ask({ token_endpoint: "https://api.other.example/token" }, {}, listed);
    expect(body).toMatchObject({ tier: 1, credentials: { source: "shared" } });
  });
});

describe("a connection whose token endpoint is the vendor's own", () => {
  it("is refreshed, checked and revoked although its page was one of the request's", async () => {
    const broker = await testBroker({ vendor: WAYS, vendorAnswers: issueTokens });
    const page = { ...OWN, authorization_endpoint: "https://acme.example/v2/authorize" };
    const { connection } = await broker.connect(page);
    const refreshed = await broker.refresh({ connection, ...OWN });
    expect(refreshed.response.status).toBe(200);
    expect((await broker.post("/v1/revoke", { token: "rt", connection, ...OWN })).response.status).toBe(200);
    expect(broker.seen.map(({ url, isUntrusted }) => [url, isUntrusted])).toEqual([
      ["https://acme.example/token", false],
      ["https://acme.example/token", false],
      ["https://acme.example/revoke", false],
    ]);
    const explained = await broker.post("/v1/explain", { connection });
    const { authorization_endpoint } = page;
    const shown = { tier: 3, redirect_uri: CUSTOM_PATH, endpoints: { authorization_endpoint } };
    expect(explained.body).toMatchObject(shown);
  });

  it("is refreshed with the broker's credentials after a page of an earlier release", async () => {
    const broker = await testBroker();
    const { vendors, keyset } = broker.deps;
    const { vendor } = vendors.get("acme") ?? expect.fail("no entry");
    const earlier = {
      v: 1,
      vendor: "acme",
      authorizationEndpoint: "https://acme.example/v2/authorize",
      credentialsId: "2026",
      credentialsSource: "shared",
      hosts: [new URL(vendor.tokenEndpoint ?? "").host],
    } as const;
    const connection = sealConnection(earlier, "platform", { keyset });
    const refreshed = await broker.refresh({ connection });
    expect(refreshed.body).toMatchObject({ access_token: "at", connection });
    expect(broker.seen.map(({ url }) => url)).toEqual(["https://acme.example/token"]);
  });
});
