/**
 * The public endpoints: metadata, vendors, health, metrics, the description of the API, the
 * human-readable page.
 */
import { expectError, expectPage } from "@oauth-broker/oauth-core/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Answer, basic, browse, send } from "../support/platform.ts";
import { type Harness, startHarness } from "../support/harness.ts";

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness((issuer) => ({
    client: "    vendors: [op, waiting]\n    approved_vendors: [waiting]",
    vendors: `
  waiting: { name: "Waiting & <b>Sons</b>", issuer: ${issuer}, setup: vendor_approval, credentials: { client_id: b, client_secret: s3cret-of-waiting } }
  hidden: { name: Hidden, issuer: ${issuer}, enabled: false }`,
  }));
});
afterAll(() => harness.close());

const get = (path: string, headers: Record<string, string> = {}): Promise<Answer> =>
  send(`${harness.baseUrl}${path}`, { headers });

/** Every route, as OpenAPI spells it. */
const ROUTES: Readonly<Record<string, readonly string[]>> = {
  "/": ["get"],
  "/.well-known/oauth-authorization-server": ["get"],
  "/healthz": ["get"],
  "/metrics": ["get"],
  "/openapi.json": ["get"],
  "/readyz": ["get"],
  "/register": ["post"],
  "/v1/authorize": ["get", "post"],
  "/v1/callback": ["get", "post"],
  "/v1/custom/{context}/callback": ["get", "post"],
  "/v1/explain": ["post"],
  "/v1/par": ["post"],
  "/v1/revoke": ["post"],
  "/v1/token": ["post"],
  "/v1/vendors": ["get"],
  "/v1/vendors/{id}": ["get"],
};

describe("/v1/vendors", () => {
  it("lists every entry with what a platform needs to know", async () => {
    const answer = await get("/v1/vendors");
    const vendors = answer.body["vendors"] as Record<string, unknown>[];
    const op = vendors.find(({ id }) => id === "op");
    expect(op).toMatchObject({
      name: "OpenID Provider",
      enabled: true,
      setup: "none",
      placeholders: {},
      default_scopes: ["openid", "api:read"],
      capabilities: { pkce: "S256", oidc: true, refresh: true, revocation: true },
    });
    expect(op).not.toHaveProperty("approved");
    expect(vendors.find(({ id }) => id === "hidden")).toMatchObject({ enabled: false });
    expect(answer.text).not.toContain(harness.secrets.vendor);
    expect(answer.text).not.toContain("s3cret");
  });

  it("knows seven vendors by itself, usable once there are credentials", async () => {
    const vendors = (await get("/v1/vendors")).body["vendors"] as Record<string, unknown>[];
    const known = vendors.filter(({ verification }) => verification === "first-class");
    const byoc = (entry: Record<string, unknown>) => (entry["capabilities"] as { byoc: boolean }).byoc;
    expect(
      known.map((entry) => ({ id: entry["id"], setup: entry["setup"], enabled: entry["enabled"], byoc: byoc(entry) })),
    ).toEqual(
      expect.arrayContaining([
        { id: "github", setup: "none", enabled: true, byoc: true },
        { id: "slack", setup: "none", enabled: true, byoc: true },
        { id: "linear", setup: "none", enabled: true, byoc: false },
        { id: "notion", setup: "none", enabled: true, byoc: false },
        { id: "atlassian", setup: "none", enabled: true, byoc: false },
        { id: "google-workspace", setup: "vendor_approval", enabled: true, byoc: false },
        { id: "microsoft-agent365", setup: "environment_id", enabled: true, byoc: false },
      ]),
    );
    expect((await get("/v1/vendors/microsoft-agent365")).body).toMatchObject({
      checked_on: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      sources: expect.arrayContaining([expect.any(String)]),
      server_url: expect.stringContaining("{environment_id}"),
      placeholders: { environment_id: { pattern: expect.any(String) } },
    });
    expect((await get("/v1/vendors/23andme")).body).toMatchObject({
      enabled: false,
      reasons_off: expect.arrayContaining([expect.any(String)]),
      confidence: "medium",
      agreeing_sources: 1,
      disagreements: expect.any(Array),
    });
    expectError(await harness.other.par({ vendor: "github" }), 400, "unauthorized_client");
  });

  it("answers one vendor, 404 for an unknown one, and approved to an authenticated client", async () => {
    expect((await get("/v1/vendors/op")).body["id"]).toBe("op");
    expectError(await get("/v1/vendors/r3flect"), 404, "not_found");
    expectError(await get("/v1/vendors/%E0%A4%A"), 404, "not_found");
    const mine = { authorization: basic("platform", harness.secrets.platform) };
    const others = { authorization: basic("other", harness.secrets.other) };
    expect((await get("/v1/vendors/waiting", mine)).body["approved"]).toBe(true);
    expect((await get("/v1/vendors/waiting", others)).body["approved"]).toBe(false);
    expect((await get("/v1/vendors/op", others)).body["approved"]).toBe(true);
  });

  it("refuses wrong credentials here as anywhere", async () => {
    expectError(await get("/v1/vendors", { authorization: basic("platform", "r3flect") }), 401, "invalid_client");
  });
});

describe("health", () => {
  it("is alive and ready, and not ready while the store is down", async () => {
    expect((await get("/healthz")).status).toBe(200);
    expect((await get("/readyz")).status).toBe(200);
    const down = await startHarness();
    await down.broker.broker.deps.records.close();
    expectError(await send(`${down.baseUrl}/readyz`), 503, "temporarily_unavailable");
    expect((await send(`${down.baseUrl}/healthz`)).status).toBe(200);
    expectError(await down.platform.par(), 503, "temporarily_unavailable");
    await down.close();
  });

  it("is not ready any more once it drains", async () => {
    const draining = await startHarness();
    draining.broker.broker.drain();
    expectError(await send(`${draining.baseUrl}/readyz`), 503, "temporarily_unavailable");
    await draining.close();
  });
});

describe("/metrics", () => {
  it("counts requests, refusals and vendor calls by labels that no caller can choose", async () => {
    await harness.platform.connect();
    await browse(`${harness.baseUrl}/v1/callback?state=r3flect`);
    await get("/r3flect/path?x=r3flect");
    await send(`${harness.baseUrl}/v1/par`, { method: "PURGE" });
    const { status, headers, text } = await get("/metrics");
    expect(status).toBe(200);
    expect(headers.get("content-type")).toMatch(/^text\/plain/);
    expect(text).toMatch(/http_requests_total\{route="\/v1\/token",method="POST",status="200"\} [1-9]/);
    expect(text).toMatch(/broker_refusals_total\{leg="callback",reason="state_invalid"\} [1-9]/);
    expect(text).toMatch(/broker_vendor_calls_total\{vendor="op",operation="redeem",outcome="ok"\} [1-9]/);
    expect(text).toMatch(/http_request_duration_seconds_bucket/);
    expect(text).not.toContain("r3flect");
    expect(text).not.toContain("PURGE");
  });
});

describe("/openapi.json", () => {
  it("is OpenAPI 3.1 and describes exactly the routes there are", async () => {
    const { body } = await get("/openapi.json");
    expect(body["openapi"]).toMatch(/^3\.1\.\d+$/);
    expect(body["info"]).toMatchObject({ title: expect.any(String), version: expect.any(String) });
    const paths = body["paths"] as Record<string, Record<string, { responses?: unknown }>>;
    const isMethod = (key: string): boolean => /^(get|post|put|delete|patch)$/.test(key);
    const described = Object.fromEntries(
      Object.entries(paths).map(([path, item]) => [path, Object.keys(item).filter(isMethod)]),
    );
    expect(described).toEqual(ROUTES);
    for (const [path, methods] of Object.entries(ROUTES)) {
      for (const method of methods) expect(paths[path]?.[method]?.responses, `${method} ${path}`).toBeTypeOf("object");
    }
  });

  it("has a route behind every path it describes, and 405 with Allow for every other method", async () => {
    for (const [path, methods] of Object.entries(ROUTES)) {
      const concrete = path.replace(/\{\w+\}/, "op");
      for (const method of ["get", "post", "put", "delete"].filter((name) => !methods.includes(name))) {
        const answer = await send(`${harness.baseUrl}${concrete}`, { method: method.toUpperCase() });
        expect({ method, path, status: answer.status }).toEqual({ method, path, status: 405 });
        expect(answer.headers.get("allow")).toBe(methods.map((name) => name.toUpperCase()).join(", "));
        expect(answer.headers.get("cache-control")).toBe("no-store");
      }
      const first = await send(`${harness.baseUrl}${concrete}`, { method: methods[0]?.toUpperCase() ?? "GET" });
      expect([404, 405]).not.toContain(first.status);
    }
  });

  it("refers only to what exists", async () => {
    const { body, text } = await get("/openapi.json");
    for (const [, pointer = ""] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
      const found = pointer
        .split("/")
        .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], body);
      expect(found, pointer).toBeTypeOf("object");
    }
  });
});

describe("/", () => {
  it("is a human-readable page that names the enabled vendors, escaped", async () => {
    const html = expectPage(await browse(`${harness.baseUrl}/`), 200);
    expect(html).toContain("OpenID Provider");
    expect(html).toContain("Waiting &amp; &lt;b&gt;Sons&lt;/b&gt;");
    expect(html).not.toContain("Hidden");
    expect(html).toContain(`${harness.baseUrl}/v1/callback`);
    expect(html).not.toMatch(/<script|<img|<link|src=/);
  });

  it("bar#HT-8 lets no other site read anything", async () => {
    for (const path of ["/", "/v1/vendors", "/.well-known/oauth-authorization-server", "/v1/callback"]) {
      const answer = await get(path, { origin: "https://r3flect.example" });
      expect(answer.headers.has("access-control-allow-origin")).toBe(false);
    }
  });
});
