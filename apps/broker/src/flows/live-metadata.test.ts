/**
 * A vendor whose endpoints its live metadata decides, or has to have too: which pair a flow uses, what happens when it
 * moves or cannot be reached, and that nothing is sent where the metadata is wrong. The twin is in
 * oauth-core: vendor-client/discovery/live.twin.test.ts.
 */
import type { Fetch } from "@oauth-broker/oauth-core";
import type { Sunset, Vendor } from "@oauth-broker/oauth-core/registry";
import { describe, expect, it } from "vitest";
import type { VendorConfig } from "../config.ts";
import { issueTokens, testBroker, testVendor } from "../testing/test-broker.ts";

const ISSUER = "https://auth.acme.example";
const METADATA = `${ISSUER}/.well-known/oauth-authorization-server`;
const SERVER = "https://mcp.acme.example/mcp";
const RESOURCE = "https://mcp.acme.example/.well-known/oauth-protected-resource/mcp";
const LIVE = {
  issuer: ISSUER,
  authorization_endpoint: `${ISSUER}/live/authorize`,
  token_endpoint: `${ISSUER}/live/token`,
  revocation_endpoint: `${ISSUER}/live/revoke`,
  registration_endpoint: `${ISSUER}/live/register`,
};
const STORED = {
  authorizationEndpoint: "https://old.acme.example/authorize",
  tokenEndpoint: "https://old.acme.example/token",
  registrationEndpoint: "https://old.acme.example/register",
};
type Source = NonNullable<Vendor["endpointsFrom"]> | "stored";
const entry = (source: Source): Partial<Vendor> => ({
  ...STORED,
  issuer: ISSUER,
  issuesIdTokens: false,
  serverUrl: SERVER,
  ...(source === "stored" ? {} : { endpointsFrom: source }),
});

async function liveBroker(endpointsFrom: Source = "metadata", more: Partial<VendorConfig> = {}) {
  const documents = new Map<string, () => Response>([
    [METADATA, () => Response.json(LIVE)],
    [RESOURCE, () => Response.json({ resource: SERVER, authorization_servers: [ISSUER] })],
  ]);
  const vendorAnswers: Fetch = async (input, init) => {
    if (init?.method === "POST") {
      if (String(input).endsWith("/register")) return Response.json({ client_id: "new" }, { status: 201 });
      return issueTokens(input);
    }
    return documents.get(String(input))?.() ?? new Response("", { status: 404 });
  };
  const vendor = { ...testVendor(entry(endpointsFrom)), ...more };
  const broker = await testBroker({ config: { vendors: new Map([["acme", vendor]]) }, vendorAnswers });
  return {
    ...broker,
    publish: (changes: object, url = METADATA) =>
      void documents.set(url, () => Response.json({ ...(url === METADATA ? LIVE : {}), ...changes })),
    cut: () => documents.set(METADATA, () => new Response("", { status: 503 })),
    posted: () => broker.seen.flatMap(({ url, form }) => (form.has("grant_type") ? [url] : [])),
  };
}

describe("a flow at a vendor whose metadata decides", () => {
  it("authorizes, redeems, refreshes and revokes at the live endpoints", async () => {
    const { start, callback, redeem, post, posted, seen } = await liveBroker();
    const { location, state, cookie } = await start();
    expect(location?.href).toContain(LIVE.authorization_endpoint);
    const code = (await callback({ state, code: "vendor-code" }, cookie)).location?.searchParams.get("code") ?? "";
    const { body } = await redeem(code);
    const connection = String(body["connection"]);
    await post("/v1/token", { grant_type: "refresh_token", refresh_token: "rt", connection });
    expect((await post("/v1/revoke", { token: "rt", connection })).response.status).toBe(200);
    expect(posted()).toEqual([LIVE.token_endpoint, LIVE.token_endpoint]);
    expect(seen.map(({ url }) => url)).toContain(LIVE.revocation_endpoint);
    expect(JSON.stringify(seen)).not.toContain("old.acme.example");
  });

  it("bar#DI-3 bar#XA-5 ends with the pair it began with, or not at all", async () => {
    const { start, callback, redeem, now, publish, posted } = await liveBroker();
    const first = await start();
    const second = await start();
    const parked = await callback({ state: second.state, code: "c" }, second.cookie);
    publish({ token_endpoint: `${ISSUER}/moved/token` });
    now.advance(599);
    const kept = await start();
    now.advance(1);
    // The browser comes back after the move, and the platform redeems after it.
    expect((await callback({ state: first.state, code: "c" }, first.cookie)).response.status).toBe(400);
    const code = parked.location?.searchParams.get("code") ?? "";
    expect((await redeem(code)).body).toMatchObject({ error: "invalid_grant" });
    expect((await callback({ state: kept.state, code: "c" }, kept.cookie)).response.status).toBe(400);
    expect(posted()).toEqual([]);
    const again = await start();
    const fresh = await callback({ state: again.state, code: "c" }, again.cookie);
    await redeem(fresh.location?.searchParams.get("code") ?? "");
    expect(posted()).toEqual([`${ISSUER}/moved/token`]);
  });

  it("bar#BY-4 does not send a refresh token to a host that was not the vendor's then", async () => {
    const { park, redeem, post, now, publish, posted } = await liveBroker();
    const connection = String((await redeem(await park())).body["connection"]);
    publish({ token_endpoint: "https://api.acme.example/token" });
    now.advance(600);
    const { body } = await post("/v1/token", { grant_type: "refresh_token", refresh_token: "rt", connection });
    expect(body).toMatchObject({ error: "invalid_grant", reason: "connection_endpoint_changed" });
    expect(posted()).toEqual([LIVE.token_endpoint]);
  });

  it("registers clients where the metadata says", async () => {
    const { deps, seen } = await liveBroker();
    const { vendor } = deps.vendors.get("acme") ?? expect.fail("no vendor");
    const redirectUri = "https://broker.example/v1/callback";
    expect(await deps.vendorClient.registerClient(vendor, { redirectUri })).toMatchObject({ status: 201 });
    expect(seen.at(-1)?.url).toBe(LIVE.registration_endpoint);
  });

  it("says in the vendor's view where its endpoints are from", async () => {
    const { get } = await liveBroker("metadata, else stored");
    const { html } = await get("/v1/vendors/acme");
    expect(JSON.parse(html)).toMatchObject({ endpoints_from: "metadata, else stored" });
  });
});

describe("metadata that cannot be reached", () => {
  it("leads to the stored pair where the entry says so, which is logged and counted once", async () => {
    const { cut, start, lines, get } = await liveBroker("metadata, else stored");
    cut();
    expect((await start()).location?.href).toContain(STORED.authorizationEndpoint);
    expect((await start()).location?.href).toContain(STORED.authorizationEndpoint);
    const told = lines.filter((line) => line.includes("stored_endpoints_used"));
    expect(told).toHaveLength(1);
    expect(told[0]).toContain('"vendor":"acme"');
    expect((await get("/metrics")).html).toContain(
      'broker_vendor_calls_total{vendor="acme",operation="discover",outcome="stored"} 1',
    );
  });

  it("is a 503 for any other entry", async () => {
    const { cut, push, lines } = await liveBroker("metadata");
    cut();
    const { response, body } = await push();
    expect([response.status, body["error"]]).toEqual([503, "temporarily_unavailable"]);
    expect(lines.join()).not.toContain("stored_endpoints_used");
  });
});

describe("metadata that is wrong", () => {
  it.each<[string, object, string]>([
    ["another issuer's", { issuer: "https://evil.example" }, METADATA],
    ["at another party's host", { token_endpoint: "https://evil.example/token" }, METADATA],
    [
      "of a server that names another issuer",
      { resource: SERVER, authorization_servers: ["https://evil.example"] },
      RESOURCE,
    ],
  ])("bar#DI-1 bar#BY-4 sends nothing to a token endpoint, stored or not: %s", async (_, changes, url) => {
    const { start, callback, publish, push, posted, seen, now, get } = await liveBroker("metadata, else stored");
    const { state, cookie } = await start();
    publish(changes, url);
    now.advance(600);
    const { response, body } = await push();
    expect([response.status, body["error"]]).toEqual([502, "vendor_response_invalid"]);
    expect((await get("/metrics")).html).toContain(
      'broker_vendor_calls_total{vendor="acme",operation="discover",outcome="vendor_response_invalid"} 1',
    );
    // A flow that is under way ends too.
    await callback({ state, code: "vendor-code" }, cookie);
    expect(posted()).toEqual([]);
    expect(JSON.stringify(seen)).not.toContain("evil.example");
  });
});

describe("an MCP server whose endpoints the entry decides", () => {
  const SAME = {
    authorization_endpoint: STORED.authorizationEndpoint,
    token_endpoint: STORED.tokenEndpoint,
    registration_endpoint: STORED.registrationEndpoint,
  };

  it("bar#BY-4 has the same in its live metadata, on every leg; a difference is a 502 and a line of the log", async () => {
    const { publish, push, park, redeem, post, posted, seen, lines, now } = await liveBroker("stored");
    publish(SAME);
    const connection = String((await redeem(await park())).body["connection"]);
    expect(posted()).toEqual([STORED.tokenEndpoint]);
    publish({ ...SAME, token_endpoint: `${ISSUER}/moved/token` });
    now.advance(600);
    const { response, body } = await push();
    expect([response.status, body]).toMatchObject([
      502,
      { error: "vendor_response_invalid", reason: "endpoint_mismatch" },
    ]);
    const line = lines.find((one) => one.includes("endpoint_mismatch")) ?? "";
    expect(line).toContain("vendors.acme.token_endpoint");
    const refresh = { grant_type: "refresh_token", refresh_token: "rt", connection };
    expect((await post("/v1/token", refresh)).response.status).toBe(502);
    expect(posted()).toEqual([STORED.tokenEndpoint]);
    expect(JSON.stringify(seen)).not.toContain("moved");
  });

  it("works where there is no metadata", async () => {
    const { cut, start } = await liveBroker("stored");
    cut();
    expect((await start()).location?.href).toContain(STORED.authorizationEndpoint);
  });
});

describe("what is decided before the metadata is read", () => {
  it("bar#XA-2 leaves the broker's credentials to no endpoint of a request, stored ones included", async () => {
    const { push, seen } = await liveBroker();
    for (const own of [
      { token_endpoint: STORED.tokenEndpoint },
      { authorization_endpoint: STORED.authorizationEndpoint },
    ]) {
      expect((await push(own)).body).toMatchObject({ error: "unauthorized_client", reason: "override_not_allowed" });
    }
    expect(seen).toEqual([]);
  });

  it("takes an endpoint of the request for the vendor's own if live metadata names the same", async () => {
    const { push } = await liveBroker();
    const live = { authorization_endpoint: LIVE.authorization_endpoint, token_endpoint: LIVE.token_endpoint };
    expect((await push(live)).response.status).toBe(201);
    expect((await push({ token_endpoint: `${ISSUER}/other/token` })).body).toMatchObject({
      error: "unauthorized_client",
      reason: "override_not_allowed",
    });
  });

  it("refuses a sunset by the live pair, not by the stored one", async () => {
    const ended = (url: string): { sunsets: readonly Sunset[] } => ({
      sunsets: [{ endsOn: "2023-01-01", what: "version 1", urls: [url], source: "https://acme.example/news" }],
    });
    const old = await liveBroker("metadata", ended("https://old.acme.example/"));
    expect((await old.push()).response.status).toBe(201);
    const live = await liveBroker("metadata", ended(LIVE.token_endpoint));
    expect((await live.push()).body).toMatchObject({ error: "unauthorized_client" });
    const { html } = await old.get("/v1/vendors/acme");
    expect(JSON.parse(html)).toMatchObject({ accepts_new_authorizations: true });
  });
});
