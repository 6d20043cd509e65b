/**
 * Manual mode: endpoints named by the request, an issuer alone, and the callback path of such
 * vendors.
 */
import { describe, expect, it } from "vitest";
import {
  formPost,
  ISSUER,
  issueTokens,
  lose,
  refusedPage,
  testBroker,
  type TestBrokerOptions,
  testVendor,
} from "../testing/test-broker.ts";

const OWN = { vendor_client_id: "mine", vendor_client_secret: "their secret" };
const ENDPOINTS = {
  authorization_endpoint: "https://tenant.example/authorize",
  token_endpoint: "https://tenant.example/token",
};
const BOTH = { vendor: "", ...ENDPOINTS, ...OWN };
const THEIR_ISSUER = "https://issuer.example";

/** An issuer whose metadata may change; every other path answers tokens. */
function issuer(metadata: () => Record<string, unknown> = () => ({})) {
  return async (input: string | URL) => {
    const { origin, pathname } = new URL(input);
    if (!pathname.startsWith("/.well-known/")) return issueTokens(input);
    return Response.json({
      issuer: origin,
      authorization_endpoint: `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
      revocation_endpoint: `${origin}/revoke`,
      response_types_supported: ["code"],
      authorization_response_iss_parameter_supported: true,
      ...metadata(),
    });
  };
}

/** The redirect URI that the vendor receives. */
async function pathAtVendor(broker: Awaited<ReturnType<typeof testBroker>>, form: Record<string, string>) {
  const { location, state, cookie } = await broker.start(form);
  return { state, cookie, path: new URL(location?.searchParams.get("redirect_uri") ?? "").pathname, location };
}

async function connected(form: Record<string, string>, options: TestBrokerOptions = {}) {
  const broker = await testBroker({ vendorAnswers: issuer(), ...options });
  const { body, connection } = await broker.connect(form);
  return { ...broker, body, connection };
}

describe("both endpoints of the request's own", () => {
  it("bar#XA-4 have their own stable callback path, which explain shows", async () => {
    const broker = await testBroker();
    const { body } = await broker.post("/v1/explain", { ...BOTH, vendor: "custom" });
    expect(body).toMatchObject({
      vendor: "custom",
      tier: 3,
      redirect_uri: expect.stringMatching(/^https:\/\/broker\.example\/v1\/custom\/[\w-]{22}\/callback$/),
      endpoints: ENDPOINTS,
      sources: { authorization_endpoint: "request", token_endpoint: "request", pkce: "default" },
    });
    const { path, location } = await pathAtVendor(broker, BOTH);
    expect(`${ISSUER}${path}`).toBe(body["redirect_uri"]);
    expect(location?.href).toMatch(/^https:\/\/tenant\.example\/authorize\?/);
    await broker.deps.keyset.rotate();
    broker.now.advance(100);
    expect((await pathAtVendor(broker, BOTH)).path).toBe(path);
  });

  it("redeem, refresh and explain by connection and secret, without the trusted entry", async () => {
    const { body, connection, refresh, post, seen } = await connected(BOTH);
    expect(body["vendor"]).toBe("custom");
    expect((await refresh({ connection, ...OWN })).body).toMatchObject({ vendor: "custom", connection });
    expect((await refresh({ ...BOTH, refresh_token: "rt-2" })).body).toMatchObject({ vendor: "custom" });
    expect((await refresh({ ...BOTH, vendor: "custom", refresh_token: "rt-3" })).response.status).toBe(200);
    expect(seen.map(({ url, isUntrusted }) => [url, isUntrusted])).toEqual(
      Array.from({ length: 4 }, () => [ENDPOINTS.token_endpoint, true]),
    );
    const explained = await post("/v1/explain", { connection });
    expect(explained.body).toMatchObject({ tier: 3, endpoints: ENDPOINTS, sources: { token_endpoint: "connection" } });
  });

  it.each([
    ["another client", {}, "other"],
    ["another vendor client", { vendor_client_id: "theirs" }, "platform"],
    ["another authorization endpoint", { authorization_endpoint: "https://tenant.example/other" }, "platform"],
    ["another token endpoint", { token_endpoint: "https://tenant.example/other" }, "platform"],
  ])("bar#XA-5 bar#XA-4 have another path for %s", async (_, form, clientId) => {
    const { post } = await testBroker();
    const ask = async (more: object, id?: string) => (await post("/v1/explain", { ...BOTH, ...more }, id)).body;
    expect((await ask(form, clientId))["redirect_uri"]).not.toBe((await ask({}))["redirect_uri"]);
  });

  it("bar#XA-1 bar#XA-4 accept an answer on their own path alone, by POST too", async () => {
    const broker = await testBroker();
    const { path, state, cookie } = await pathAtVendor(broker, BOTH);
    const other = await pathAtVendor(broker, { ...BOTH, vendor_client_id: "theirs" });
    for (const wrong of [
      "/v1/callback",
      other.path,
      path.replace("/callback", "x/callback"),
      path.toLowerCase(),
      `/v1/custom/${"x".repeat(22)}/callback`,
    ]) {
      expect(await broker.callback({ state, code: "c" }, cookie, wrong)).toMatchObject(refusedPage("path_mismatch"));
    }
    // The path of earlier releases, beneath the shared callback, does not exist any more.
    const below = path.replace(/custom\/(.+)\/callback/, "callback/$1");
    expect((await broker.callback({ state, code: "c" }, cookie, below)).response.status).toBe(404);
    expect(broker.seen).toEqual([]);
    const answer = new URLSearchParams({ state, code: "vendor-code" }).toString();
    const { location: again } = await broker.get(path, undefined, formPost(answer));
    expect(again?.pathname).toBe(path);
    const back = await broker.get(`${path}${again?.search}`, cookie);
    expect(back.location?.searchParams.get("code")).not.toBeNull();
  });

  it.each([
    ["http", { token_endpoint: "http://tenant.example/token" }],
    ["a port", { token_endpoint: "https://tenant.example:8443/token" }],
    ["userinfo", { token_endpoint: "https://acme.example@tenant.example/token" }],
    ["a fragment", { authorization_endpoint: "https://tenant.example/a#x" }],
    ["a private address", { token_endpoint: "https://10.0.0.1/token" }],
    ["loopback", { token_endpoint: "https://127.0.0.1/token" }],
    ["a metadata service", { token_endpoint: "https://169.254.169.254/token" }],
    ["a private name", { token_endpoint: "https://vault.internal/token" }],
    ["this very broker", { authorization_endpoint: `${ISSUER}/v1/authorize` }],
    ["no URL", { token_endpoint: "tenant" }],
    ["braces", { token_endpoint: "https://tenant.example/{}" }],
    ["an issuer on loopback", { authorization_endpoint: "", token_endpoint: "", issuer: "http://127.0.0.1:9" }],
  ])("bar#EG-7 refuse %s, and nothing is sent", async (_, form) => {
    // The operator's own permissions do not apply to requests.
    const egress = { allowLoopback: false, allowCidrs: ["10.0.0.0/8"], timeoutMs: 10_000 };
    const { push, seen } = await testBroker({ config: { egress } });
    const { response, body } = await push({ ...BOTH, ...form });
    expect({ status: response.status, error: body["error"] }).toEqual({ status: 400, error: "invalid_request" });
    expect(seen).toEqual([]);
  });

  it("may be http on loopback where the operator permits it", async () => {
    const egress = { allowLoopback: true, allowCidrs: [], timeoutMs: 10_000 };
    const { push } = await testBroker({ config: { egress } });
    const local = { authorization_endpoint: "http://127.0.0.1:9/a", token_endpoint: "http://127.0.0.1:9/t" };
    expect((await push({ ...BOTH, ...local })).response.status).toBe(201);
  });

  it.each([
    ["without credentials of one's own", { vendor_client_id: "", vendor_client_secret: "" }, "unauthorized_client"],
    ["beside an issuer", { issuer: THEIR_ISSUER }, "unauthorized_client"],
    ["with one of them empty", { token_endpoint: "" }, "invalid_request"],
    ["as custom with one of them", { vendor: "custom", token_endpoint: "" }, "invalid_request"],
  ])("bar#XA-2 bar#XA-3 are refused %s, and nothing is sent", async (_, form, error) => {
    const { push, seen } = await testBroker();
    expect((await push({ ...BOTH, ...form })).body["error"]).toBe(error);
    expect(seen).toEqual([]);
  });

  it("are refused to clients without allow_overrides, or without custom among their vendors", async () => {
    const strict = await testBroker({ client: { allowOverrides: false } });
    for (const form of [BOTH, { vendor: "", issuer: THEIR_ISSUER, ...OWN }, { vendor: "acme", ...ENDPOINTS, ...OWN }]) {
      expect((await strict.push(form)).body["error"]).toBe("unauthorized_client");
    }
    expect((await strict.push(OWN)).response.status).toBe(201);
    const listed = await testBroker({ client: { vendors: ["acme"] } });
    expect((await listed.push(BOTH)).body["error"]).toBe("unauthorized_client");
    const named = await testBroker({ client: { vendors: ["custom"] } });
    expect((await named.push(BOTH)).response.status).toBe(201);
  });
});

describe("an issuer alone", () => {
  const FORM = { vendor: "", issuer: THEIR_ISSUER, ...OWN };

  it("bar#XA-3 bar#XA-4 is tier 3 even if it advertises iss: its own path, and iss must be equal", async () => {
    const broker = await testBroker({ vendorAnswers: issuer() });
    const { body } = await broker.post("/v1/explain", FORM);
    expect(body).toMatchObject({
      vendor: "custom",
      tier: 3,
      redirect_uri: expect.stringMatching(/^https:\/\/broker\.example\/v1\/custom\/[\w-]{22}\/callback$/),
      callback: { iss_required: true },
      sources: { issuer: "request", token_endpoint: "discovery" },
    });
    for (const [iss, reason] of [
      [{}, "missing_issuer"],
      [{ iss: "https://evil.example" }, "issuer_mismatch"],
    ] as const) {
      const { state, cookie, path } = await pathAtVendor(broker, FORM);
      expect((await broker.callback({ state, code: "c", ...iss }, cookie, path)).html).toContain(reason);
    }
    const { state, cookie, path } = await pathAtVendor(broker, FORM);
    expect(`${ISSUER}${path}`).toBe(body["redirect_uri"]);
    const answer = { state, code: "c", iss: THEIR_ISSUER };
    expect((await broker.callback(answer, cookie)).html).toContain("path_mismatch");
    const back = await broker.callback(answer, cookie, path);
    const { body: tokens } = await broker.redeem(back.location?.searchParams.get("code") ?? "");
    expect(tokens["vendor"]).toBe("custom");
    expect(broker.seen.every(({ isUntrusted }) => isUntrusted)).toBe(true);
  });

  it("accepts an answer without iss when none is advertised, and checks one that comes", async () => {
    const silent = { authorization_response_iss_parameter_supported: false };
    const broker = await testBroker({ vendorAnswers: issuer(() => silent) });
    const one = await pathAtVendor(broker, FORM);
    const wrong = { state: one.state, code: "c", iss: "https://evil.example" };
    expect((await broker.callback(wrong, one.cookie, one.path)).html).toContain("issuer_mismatch");
    const two = await pathAtVendor(broker, FORM);
    const back = await broker.callback({ state: two.state, code: "c" }, two.cookie, two.path);
    expect(back.location?.searchParams.get("code")).not.toBeNull();
  });

  it("bar#DI-3 ends flows under way if its metadata changes, and still requires iss", async () => {
    for (const [change, answer, reason] of [
      [{ token_endpoint: "https://evil.example/token" }, { iss: THEIR_ISSUER }, "context_mismatch"],
      [{ authorization_response_iss_parameter_supported: false }, {}, "missing_issuer"],
    ] as const) {
      let current: Record<string, unknown> = {};
      const broker = await testBroker({ vendorAnswers: issuer(() => current) });
      // The metadata has been cached for nearly its whole lifetime; it is read again while the user
      // is at the vendor.
      await broker.push(FORM);
      broker.now.advance(400);
      const { state, cookie, path } = await pathAtVendor(broker, FORM);
      current = change;
      broker.now.advance(300);
      const { html } = await broker.callback({ state, code: "c", ...answer }, cookie, path);
      expect(html).toContain(reason);
      expect(broker.seen.filter(({ url }) => url.endsWith("/token"))).toEqual([]);
    }
  });

  it("bar#BY-4 sends no refresh token and no secret to a host its metadata names later", async () => {
    let current: Record<string, unknown> = {};
    const silent = { authorization_response_iss_parameter_supported: false };
    const options = { vendorAnswers: issuer(() => ({ ...silent, ...current })) };
    const { refresh, connection, now, seen } = await connected(FORM, options);
    current = { token_endpoint: "https://evil.example/token" };
    now.advance(3600);
    expect((await refresh({ connection, ...OWN })).body).toMatchObject({ reason: "connection_endpoint_changed" });
    expect(seen.filter(({ url }) => url.startsWith("https://evil.example"))).toEqual([]);
  });

  it("is a 502 or 503 at /v1/par when it cannot be discovered", async () => {
    const lost = await testBroker({ vendorAnswers: async () => Response.json({}, { status: 404 }) });
    expect((await lost.push(FORM)).response.status).toBe(502);
    const down = await testBroker({ vendorAnswers: async () => lose() });
    expect((await down.push(FORM)).response.status).toBe(503);
    const foreign = await testBroker({ vendorAnswers: issuer(() => ({ issuer: "https://other.example" })) });
    expect((await foreign.push(FORM)).body["error"]).toBe("vendor_response_invalid");
  });
});

describe("an endpoint beside a vendor of the configuration", () => {
  it.each([
    ["a token endpoint elsewhere", { token_endpoint: "https://evil.example/token" }],
    ["another token endpoint at the vendor", { token_endpoint: "https://acme.example/other" }],
    ["an authorization endpoint elsewhere", { authorization_endpoint: "https://evil.example/authorize" }],
    ["an issuer that is not its own", { issuer: "https://evil.example" }],
  ])("bar#XA-2 never gets credentials of the broker: %s", async (_, form) => {
    const { push, seen } = await testBroker();
    expect((await push(form)).body).toMatchObject({ error: "unauthorized_client", reason: "override_not_allowed" });
    expect(seen).toEqual([]);
    const environment = { id: "environment", source: "environment", clientId: "ours" } as const;
    const vendors = new Map([["acme", { ...testVendor(), credentials: [environment] }]]);
    expect((await (await testBroker({ config: { vendors } })).push(form)).body["error"]).toBe("unauthorized_client");
  });

  it("is not an override when it is the vendor's own endpoint", async () => {
    const { post } = await testBroker();
    const at = "https://acme.example";
    const own = { authorization_endpoint: `${at}/authorize`, token_endpoint: `${at}/token` };
    const { body } = await post("/v1/explain", { vendor: "acme", ...own });
    expect(body).toMatchObject({ tier: 1, credentials: { source: "shared" }, endpoints: own });
    expect(body).not.toHaveProperty("tier_reason");
  });

  it("is tier 3 with BYOC, at the vendor's hosts too; the other one is the vendor's", async () => {
    const at = "https://acme.example";
    const { post } = await testBroker({
      vendor: { revocationEndpoint: `${at}/revoke`, refreshEndpoint: `${at}/refresh` },
    });
    for (const token_endpoint of ["https://acme.example/eu/token", "https://eu.acme.example/token"]) {
      const { body } = await post("/v1/explain", { vendor: "acme", ...OWN, token_endpoint });
      expect(body).toMatchObject({
        vendor: "acme",
        tier: 3,
        tier_reason: expect.stringContaining("The operator of the broker can write an entry with these endpoints"),
        endpoints: {
          authorization_endpoint: "https://acme.example/authorize",
          token_endpoint,
          refresh_endpoint: null,
          revocation_endpoint: null,
        },
        sources: { authorization_endpoint: "configuration", token_endpoint: "request" },
      });
    }
  });

  it("drops the vendor's issuer and keys if users are sent elsewhere", async () => {
    const keys = { issuer: "https://acme.example", jwksUri: "https://acme.example/jwks" };
    const { post } = await testBroker({ vendor: { ...keys, redeemAt: "callback", issRequired: true } });
    const { body } = await post("/v1/explain", { ...OWN, vendor: "acme", ...ENDPOINTS });
    expect(body).toMatchObject({
      endpoints: { issuer: null, jwks_uri: null },
      callback: { iss_required: false },
      token_request: { redeem_at: "token" },
    });
  });

  it("keeps operators' private networks out of reach", async () => {
    const { connect, seen } = await testBroker();
    const form = { ...OWN, token_endpoint: "https://acme.example/eu/token" };
    expect((await connect(form)).response.status).toBe(200);
    expect(seen.map(({ isUntrusted }) => isUntrusted)).toEqual([true]);
  });

  it("is no longer accepted beside a connection that names another", async () => {
    const { connection, refresh, seen } = await connected(BOTH);
    const before = seen.length;
    const other = { connection, ...OWN, token_endpoint: "https://evil.example/token" };
    expect((await refresh(other)).body["error"]).toBe("unauthorized_client");
    expect((await refresh({ connection, ...OWN, vendor: "acme" })).body["error"]).toBe("invalid_request");
    expect((await refresh({ connection, ...OWN, ...ENDPOINTS })).response.status).toBe(200);
    expect(seen).toHaveLength(before + 1);
  });
});
