/**
 * Legs 1 and 2, and what each refuses. e2e/scenarios has a journey of them over the wire, with a
 * real vendor.
 */
import { join } from "node:path";
import { OAuthError } from "@oauth-broker/oauth-core";
import { defineVendor } from "@oauth-broker/oauth-core/registry";
import { expectError, readAnswer, REFLECTED, temporaryFolder } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { ClientConfig, VendorConfig } from "../config.ts";
import {
  flowIdOf,
  ISSUER,
  issueTokens,
  PUSHED,
  REDIRECT_URI,
  refusedPage,
  testBroker,
  testClient,
  testVendor,
} from "../testing/test-broker.ts";

const STRICT = { allowOverrides: false };
const authorization_endpoint = "https://r3flect.example/a";
const token_endpoint = "https://r3flect.example/t";

describe("leg 1, POST /v1/par", () => {
  it("rfc9126#2.2 answers 201 with a request_uri for 300 s", async () => {
    const { push } = await testBroker();
    const { response, body } = await push();
    expect(response.status).toBe(201);
    const request_uri = expect.stringMatching(/^urn:ietf:params:oauth:request_uri:/) as string;
    expect(body).toEqual({ request_uri, expires_in: 300 });
  });

  it("bar#ST-7 ends a request_uri at 300 s by the clock, not by housekeeping", async () => {
    const { push, get, authorizePath, now } = await testBroker();
    const [early, late] = [await push(), await push()];
    now.advance(299);
    expect((await get(authorizePath(early.body["request_uri"]))).response.status).toBe(303);
    now.advance(1);
    expect(await get(authorizePath(late.body["request_uri"]))).toMatchObject(refusedPage("request_uri_unknown"));
  });

  it("bar#ST-1 answers the same whether the client or the secret is wrong, with a challenge", async () => {
    const { app } = await testBroker();
    const push = async (id: string) => {
      const headers = { authorization: `Basic ${btoa(`${id}:${"x".repeat(43)}`)}` };
      const body = new URLSearchParams({ ...PUSHED, client_id: id });
      return readAnswer(await app.request(`${ISSUER}/v1/par`, { method: "POST", headers, body }));
    };
    const [unknown, wrong] = [await push("unknown"), await push("platform")];
    expectError(wrong, 401, "invalid_client");
    const challenge = wrong.headers.get("www-authenticate");
    expect(challenge).toMatch(/^Basic realm="/);
    expect([unknown.text, unknown.headers.get("www-authenticate")]).toEqual([wrong.text, challenge]);
  });

  it("rfc9126#2.3 keeps nothing of a request it refuses", async () => {
    const { push, deps } = await testBroker();
    const created = vi.spyOn(deps.records, "create");
    expect((await push({ redirect_uri: "https://other.example/cb" })).body).toMatchObject({
      error: "invalid_request",
      reason: "redirect_uri",
    });
    expect(created).not.toHaveBeenCalled();
  });
});

const ENTRY = testVendor();
const discovered = (id: string, issuer: string): VendorConfig => ({
  ...ENTRY,
  vendor: defineVendor({ id, name: id, issuer }),
});
const VENDORS = new Map<string, VendorConfig>([
  ["acme", ENTRY],
  ["closed", testVendor({ acceptsNewAuthorizations: false })],
  ["waiting", { ...ENTRY, setup: "vendor_approval" }],
  ["hidden", testVendor({ enabled: false })],
  ["foreign", ENTRY],
  ["renamed", testVendor({ parameterNames: { client_id: "client_key" } })],
  ["bare", { ...ENTRY, credentials: [] }],
  ["down", discovered("down", "https://down.example")],
  ["liar", discovered("liar", "https://liar.example/elsewhere")],
]);

describe.each(["/v1/par", "/v1/explain"])("leg 1, what %s refuses", (path) => {
  const open = async (client: Partial<ClientConfig> = {}) => {
    const vendors = [...VENDORS.keys()].filter((id) => id !== "foreign");
    const broker = await testBroker({
      config: { vendors: VENDORS },
      client: { vendors: [...vendors, "custom"], ...client },
      limits: { bodyBytes: 16_384 },
      vendorAnswers: async (input) => {
        if (new URL(String(input)).host === "liar.example") return Response.json({ issuer: "https://liar.example" });
        throw new Error("no vendor at this host");
      },
    });
    const ask = (form: Record<string, string>) => broker.post(path, { ...PUSHED, ...form });
    return { ...broker, ask };
  };

  it("takes a good request, unknown parameters and empty ones", async () => {
    const { ask } = await open();
    const empty = { vendor_client_id: "", issuer: "", scope: "", login_hint: "" };
    const { response, body } = await ask({ nonsense: REFLECTED, ...empty });
    const status = path === "/v1/par" ? 201 : 200;
    expect([response.status, response.headers.get("cache-control")]).toEqual([status, "no-store"]);
    expect(JSON.stringify(body)).not.toContain("r3flect");
  });

  it.each<[string, Record<string, string>, string, Partial<ClientConfig>?]>([
    ["an unknown vendor", { vendor: REFLECTED }, "invalid_request"],
    ["a vendor that is not enabled", { vendor: "hidden" }, "invalid_request"],
    ["no vendor", { vendor: "" }, "invalid_request"],
    ["a vendor this client may not use", { vendor: "foreign" }, "unauthorized_client"],
    ["a vendor that takes no new authorizations", { vendor: "closed" }, "unauthorized_client"],
    ["a vendor that waits for approval", { vendor: "waiting" }, "unauthorized_client"],
    ["a vendor without credentials of ours", { vendor: "bare" }, "unauthorized_client"],
    ["a secret without its client id", { vendor_client_secret: REFLECTED }, "invalid_request"],
    ["a client id with a line break", { vendor_client_id: "r3flect\nb" }, "invalid_request"],
    ["a client id of 2,049 characters", { vendor_client_id: "r3flect".repeat(300) }, "invalid_request"],
    ["a token endpoint", { token_endpoint }, "unauthorized_client"],
    ["an issuer", { vendor: "", issuer: "https://r3flect.example" }, "unauthorized_client"],
    ["an authorization endpoint", { authorization_endpoint }, "unauthorized_client", STRICT],
    ["a token endpoint", { token_endpoint }, "unauthorized_client", STRICT],
    ["an issuer", { vendor: "", issuer: "https://r3flect.example" }, "unauthorized_client", STRICT],
    ["both endpoints", { vendor: "", authorization_endpoint, token_endpoint }, "unauthorized_client", STRICT],
    ["placeholders of no endpoint", { placeholders: '{"tenant":"r3flect"}' }, "invalid_request"],
    ["placeholders that are no JSON", { placeholders: "r3flect" }, "invalid_request"],
    ["a redirect URI of another client", { redirect_uri: "https://other.example/cb" }, "invalid_request"],
    ["a redirect URI with more behind it", { redirect_uri: `${REDIRECT_URI}/r3flect` }, "invalid_request"],
    ["bar#ST-3 plain PKCE", { code_challenge_method: "plain" }, "invalid_request"],
    ["bar#ST-3 a challenge without method", { code_challenge_method: "" }, "invalid_request"],
    ["bar#ST-5 a scope with a quote", { scope: 'read "r3flect"' }, "invalid_scope"],
    ["rfc8707#2 a resource with a fragment", { resource: "https://r3flect.example/#x" }, "invalid_request"],
    ["rfc8707#2 a resource that is no URI", { resource: "r3flect" }, "invalid_request"],
    ["rfc8707#2 a resource with a space", { resource: "https://r3flect.example/ a" }, "invalid_request"],
    ["vendor_params that are no JSON", { vendor_params: "r3flect" }, "invalid_request"],
    ["bar#ST-4 a reserved parameter", { vendor_params: '{"redirect_uri":"r3flect"}' }, "invalid_request"],
    ["bar#ST-4 a name that ends at a NUL", { vendor_params: '{"state\\u0000x":"r3flect"}' }, "invalid_request"],
    [
      "bar#ST-4 the vendor's name of a reserved parameter",
      { vendor: "renamed", vendor_params: '{"client_key":"r3flect"}' },
      "invalid_request",
    ],
    ["bar#ST-4 a parameter with a place of its own", { vendor_params: '{"scope":"r3flect"}' }, "invalid_request"],
    ["more than a URL holds", { vendor_params: JSON.stringify({ r3flect: "x".repeat(8_192) }) }, "invalid_request"],
    ["bar#ST-4 another spelling of one", { vendor_params: '{"Prompt":"r3flect"}' }, "invalid_request"],
  ])("%s", async (_, form, error, client = {}) => {
    const { ask, seen } = await open(client);
    const { response, body } = await ask(form);
    expect({ status: response.status, error: body["error"] }).toEqual({ status: 400, error });
    expect(seen).toEqual([]);
  });

  it("answers the same for an unknown vendor and one that is not enabled", async () => {
    const { ask } = await open();
    expect((await ask({ vendor: "hidden" })).body).toEqual((await ask({ vendor: "unknown" })).body);
    expect(JSON.stringify((await ask({ vendor: "waiting" })).body)).toContain("approved_vendors");
  });

  it.each([
    ["a repeated parameter", "vendor=acme", 400],
    ["broken percent-encoding", "x=%E0%A4%A", 400],
    ["a NUL", "x=%00", 400],
    ["a line break", "x=a%0d%0aSet-Cookie:x=r3flect", 400],
    ["more parameters than anyone needs", Array.from({ length: 70 }, (_, i) => `p${i}=1`).join("&"), 400],
    ["a body over the limit", `x=${"r3flect".repeat(3_000)}`, 413],
  ])("bar#HT-3 bar#HT-4 %s", async (_, more, status) => {
    const { post } = await open();
    const { response, body } = await post(path, `${new URLSearchParams(PUSHED).toString()}&${more}`);
    expect([response.status, body["error"]]).toEqual([status, "invalid_request"]);
  });

  it("a vendor that cannot be discovered, as 503, and one that lies, as 502", async () => {
    const { ask } = await open();
    const [down, liar] = [await ask({ vendor: "down" }), await ask({ vendor: "liar" })];
    expect([down.response.status, down.body["error"]]).toEqual([503, "temporarily_unavailable"]);
    expect([liar.response.status, liar.body["error"]]).toEqual([502, "vendor_response_invalid"]);
  });
});

describe("bar#XA-9 a vendor whose credentials clients of several owners share", () => {
  /**
   * Two brokers on one store: the second is the first after a restart, with a client of another
   * owner in its configuration.
   */
  const beforeAndAfter = async () => {
    const folder = temporaryFolder();
    const broker = async (clients: readonly ClientConfig[]) => {
      const started = await testBroker({
        config: { clients, store: { kind: "sqlite", path: join(folder, "broker.sqlite") } },
        vendor: { revocationEndpoint: "https://acme.example/revoke" },
        vendorAnswers: issueTokens,
      });
      onTestFinished(() => started.close());
      return started;
    };
    const owned = (id: string) => ({ ...testClient(id), owner: `of ${id}` });
    return { before: await broker([owned("platform")]), after: await broker([owned("platform"), owned("other")]) };
  };

  it("bar#XA-9 asks before a pushed flow leaves, and never on later legs", async () => {
    const { before, after } = await beforeAndAfter();
    const pushed = before.authorizePath((await before.push()).body["request_uri"]);
    const left = await before.start();
    const code = await before.park();
    const { connection } = await before.connect();
    const { get, callback, redeem, refresh, post } = after;
    const asked = await get(pushed);
    expect([asked.response.status, asked.location]).toEqual([200, undefined]);
    const back = await callback({ state: left.state, code: "vendor-code" }, left.cookie);
    expect(back.location?.searchParams.has("code")).toBe(true);
    expect((await redeem(code)).response.status).toBe(200);
    expect((await refresh({ connection })).response.status).toBe(200);
    expect((await post("/v1/revoke", { token: "at", connection })).response.status).toBe(200);
    expect((await post("/v1/explain", { connection })).response.status).toBe(200);
  });
});

const NEVER_ISSUED = `urn:ietf:params:oauth:request_uri:${"a".repeat(22)}.${"b".repeat(43)}`;
const NOT_PUSHED = "?client_id=platform&response_type=code&redirect_uri=https://r3flect.example/";

describe("leg 2, GET /v1/authorize", () => {
  it("leaves for the vendor with each parameter once and a cookie of this flow", async () => {
    const { start } = await testBroker();
    const login_hint = "user@acme.example";
    const { location, cookie } = await start({ vendor_params: '{"access_type":"offline"}', login_hint });
    const names = [...(location?.searchParams.keys() ?? [])];
    expect(new Set(names).size).toBe(names.length);
    expect(Object.fromEntries(location?.searchParams ?? [])).toMatchObject({
      client_id: "ours",
      redirect_uri: `${ISSUER}/v1/callback`,
      response_type: "code",
      scope: "read",
      code_challenge_method: "S256",
      access_type: "offline",
      login_hint,
    });
    expect(cookie).toMatch(/^__Host-flow-[A-Za-z0-9_-]{22}=[A-Za-z0-9_-]{43}$/);
  });

  it("bar#ST-10 refuses a request_uri never issued for its flow, and burns nothing", async () => {
    const { push, get, authorizePath } = await testBroker();
    const requestUri = String((await push()).body["request_uri"]);
    const guessed = requestUri.replace(/\.[\w-]{43}$/, `.${"A".repeat(43)}`);
    expect(guessed).not.toBe(requestUri);
    expect(await get(authorizePath(guessed))).toMatchObject(refusedPage("request_uri_unknown"));
    expect((await get(authorizePath(requestUri))).response.status).toBe(303);
  });

  it("rfc9126#2.2 allows the same browser to reload, and no other to use the request_uri", async () => {
    const { start, get } = await testBroker();
    const { path, cookie, location } = await start();
    expect((await get(path, cookie)).location?.href).toBe(location?.href);
    expect(await get(path)).toMatchObject(refusedPage("request_uri_used"));
    expect(await get(path, cookie.replace(/.$/, "_"))).toMatchObject(refusedPage("request_uri_used"));
    expect((await get(path, cookie)).response.status).toBe(303);
  });

  it.each([
    ["https://broker.example", /^__Host-flow-[^;]*; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/],
    ["http://127.0.0.1:8080", /^flow-[^;]*; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/],
  ])("rfc9700#4.7 bar#CB-7 sends a cookie of HttpOnly, Lax and this host only on %s", async (baseUrl, expected) => {
    const { push, get, authorizePath } = await testBroker({ config: { baseUrl } });
    const { response } = await get(authorizePath((await push()).body["request_uri"]));
    expect(response.headers.get("set-cookie")).toMatch(expected);
  });

  it.each<[string, string | undefined, (url: URL, query: URLSearchParams) => void]>([
    ["no parameters", undefined, (url) => void (url.search = "")],
    ["no request_uri", undefined, (_, query) => query.delete("request_uri")],
    ["no client_id", undefined, (_, query) => query.delete("client_id")],
    ["another client's", "request_uri_unknown", (_, query) => query.set("client_id", "other")],
    ["an unknown client's", "request_uri_unknown", (_, query) => query.set("client_id", "r3flect")],
    ["one that is cut", "request_uri_unknown", (url) => void (url.search = url.search.slice(0, -1))],
    [
      "one that is not ours",
      "request_uri_unknown",
      (_, query) => query.set("request_uri", "https://r3flect.example/r"),
    ],
    ["one that never was", "request_uri_unknown", (_, query) => query.set("request_uri", NEVER_ISSUED)],
    ["a request that was not pushed", undefined, (url) => void (url.search = NOT_PUSHED)],
    ["bar#HT-3 a repeated parameter", undefined, (_, query) => query.append("client_id", "platform")],
    ["bar#HT-4 broken escapes", undefined, (url) => void (url.search += "&x=%E0%A4%A")],
    ["bar#HT-4 a NUL", undefined, (url) => void (url.search += "%00")],
    ["bar#HT-4 a line break", undefined, (url) => void (url.search += "%0d%0ar3flect:1")],
  ])("answers a page that leads back, and no redirect, to %s", async (_, reason, change) => {
    const { push, get, authorizePath } = await testBroker({
      client: { initiateLoginUri: "https://platform.example/" },
    });
    const path = authorizePath((await push()).body["request_uri"]);
    const wrong = new URL(path, ISSUER);
    change(wrong, wrong.searchParams);
    const refused = await get(`${wrong.pathname}${wrong.search}`);
    expect(refused).toMatchObject(refusedPage(`<code>${reason ?? "invalid_request"}</code>`));
    // Of two clients, neither is the way back where the request names no flow of it.
    const isSame = wrong.searchParams.get("request_uri") === new URL(path, ISSUER).searchParams.get("request_uri");
    const isNamed = isSame && reason !== "request_uri_unknown";
    expect(refused.html.includes('href="https://platform.example/"')).toBe(isNamed);
    expect((await get(path)).response.status).toBe(303);
  });

  it("spends nothing while the vendor is unreachable, and continues once it is back", async () => {
    const { push, get, authorizePath, deps } = await testBroker();
    const path = authorizePath((await push()).body["request_uri"]);
    const { resolve } = deps.vendorClient;
    const down = new OAuthError("temporarily_unavailable", "The vendor does not respond");
    Object.assign(deps.vendorClient, { resolve: async () => Promise.reject(down) });
    const refused = await get(path);
    expect(refused.location?.href.startsWith(`${REDIRECT_URI}?error=temporarily_unavailable`)).toBe(true);
    expect(refused.location?.searchParams.has("retry")).toBe(false);
    expect(refused.cookie).toBeUndefined();
    Object.assign(deps.vendorClient, { resolve });
    expect((await get(path)).location?.host).toBe("acme.example");
  });

  it("bar#XA-5 does not leave for a vendor that has moved since the push", async () => {
    const vendors = new Map([["acme", testVendor()]]);
    const { push, get, authorizePath } = await testBroker({ config: { vendors } });
    const path = authorizePath((await push()).body["request_uri"]);
    vendors.set("acme", testVendor({ authorizationEndpoint: "https://evil.example/authorize" }));
    const { location } = await get(path);
    expect(location?.host).toBe("platform.example");
    const told = { reason: "context_changed", retry: "restart" };
    expect(Object.fromEntries(location?.searchParams ?? [])).toMatchObject(told);
  });

  it("tells another browser with a used request_uri nothing, also while the vendor is down", async () => {
    const { start, get, deps } = await testBroker();
    const { path } = await start();
    const down = new OAuthError("temporarily_unavailable", "The vendor does not respond");
    Object.assign(deps.vendorClient, { resolve: async () => Promise.reject(down) });
    expect(await get(path)).toMatchObject(refusedPage("request_uri_used"));
  });

  it("bar#CB-7 takes no cookie it could not have set", async () => {
    const { push, get, authorizePath } = await testBroker();
    const requestUri = String((await push()).body["request_uri"]);
    const flowId = flowIdOf(requestUri);
    const { cookie } = await get(authorizePath(requestUri), `__Host-flow-${flowId}=x;Domain=evil.example`);
    expect(cookie).toMatch(/=[A-Za-z0-9_-]{43}$/);
  });

  it("spends nothing on a preview's HEAD, another method or another content type", async () => {
    const { push, get, authorizePath } = await testBroker();
    const path = authorizePath((await push()).body["request_uri"]);
    for (const method of ["HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"]) {
      const { response } = await get(path, undefined, { method });
      expect([method, response.status, response.headers.get("allow")]).toEqual([method, 405, "GET, POST"]);
    }
    expect((await get(path, undefined, { method: "POST" })).response.status).toBe(415);
    expect((await get(path)).response.status).toBe(303);
  });

  it("bar#VR-3 bar#VR-1 sends a fresh challenge and nonce per flow and stores neither secret", async () => {
    const { start, deps } = await testBroker({
      vendor: { issuer: "https://acme.example", jwksUri: "https://acme.example/jwks" },
    });
    const [one, two] = [await start({ scope: "openid" }), await start({ scope: "openid" })];
    for (const name of ["code_challenge", "nonce", "state"]) {
      expect(one.location?.searchParams.get(name)).not.toBe(two.location?.searchParams.get(name));
    }
    const id = flowIdOf(one.cookie);
    const record = JSON.stringify(await deps.records.get({ kind: "flow", id }));
    expect(record).not.toContain(one.location?.searchParams.get("nonce"));
    expect(record).not.toContain(one.cookie.split("=")[1]);
  });
});
