/**
 * Legs 1 and 2, and what each refuses. e2e/scenarios has the same over the wire and with real
 * counterparts.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OAuthError } from "@oauth-broker/oauth-core";
import { describe, expect, it, onTestFinished } from "vitest";
import type { ClientConfig } from "../config.ts";
import { ISSUER, REDIRECT_URI, testBroker, testClient, testVendor } from "../testing/test-broker.ts";

const refusedPage = (reason: string) => ({
  response: expect.objectContaining({ status: 400 }),
  location: undefined,
  html: expect.stringContaining(reason),
});

describe("leg 1, POST /v1/par", () => {
  it("rfc9126#2.2 answers 201 with a request_uri for 300 s", async () => {
    const { push } = await testBroker();
    const { response, body } = await push();
    expect(response.status).toBe(201);
    expect(body).toEqual({
      request_uri: expect.stringMatching(/^urn:ietf:params:oauth:request_uri:/),
      expires_in: 300,
    });
  });

  it("bar#ST-7 ends a request_uri at 300 s by the clock, not by housekeeping", async () => {
    const { push, get, authorizePath, now } = await testBroker();
    const [early, late] = [await push(), await push()];
    now.advance(299);
    expect((await get(authorizePath(early.body["request_uri"]))).response.status).toBe(303);
    now.advance(1);
    expect(await get(authorizePath(late.body["request_uri"]))).toMatchObject(refusedPage("request_uri_unknown"));
  });

  it("bar#ST-8 limits one client and not the other, and says when to come back", async () => {
    const { push, post } = await testBroker({ limits: { parPerMinute: 2 } });
    await push();
    await push();
    const { response, body } = await push();
    expect(body["error"]).toBe("slow_down");
    expect(response.status).toBe(429);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await post("/v1/par", { client_id: "other" }, "other")).response.status).toBe(400);
  });

  it.each([
    ["an unknown vendor", { vendor: "unknown" }, "invalid_request"],
    ["no vendor", { vendor: "" }, "invalid_request"],
    ["a secret without its client id", { vendor_client_secret: "s" }, "invalid_request"],
    ["a client id with a line break", { vendor_client_id: "a\nb" }, "invalid_request"],
    ["an override", { token_endpoint: "https://evil.example/token" }, "unauthorized_client"],
    ["an issuer", { vendor: "", issuer: "https://other.example" }, "unauthorized_client"],
    ["a scope with a quote", { scope: 'read "all"' }, "invalid_scope"],
    ["a resource with a fragment", { resource: "https://api.example/#x" }, "invalid_request"],
    ["a reserved parameter", { vendor_params: '{"redirect_uri":"https://evil.example"}' }, "invalid_request"],
    [
      "a name that ends at a NUL",
      { vendor_params: '{"redirect_uri\\u0000x":"https://evil.example"}' },
      "invalid_request",
    ],
    ["a parameter with a place of its own", { vendor_params: '{"scope":"all"}' }, "invalid_request"],
  ])("rfc8707#2 bar#ST-4 bar#ST-5 refuses %s", async (_, form, error) => {
    const { push, seen } = await testBroker();
    const { response, body } = await push(form);
    expect({ status: response.status, error: body["error"] }).toEqual({ status: 400, error });
    expect(seen).toEqual([]);
  });

  it("keeps a vendor that takes no new authorizations, and one this client may not use, from starting", async () => {
    const closed = await testBroker({ vendor: { acceptsNewAuthorizations: false } });
    expect((await closed.push()).body["error"]).toBe("unauthorized_client");
    const foreign = await testBroker({ client: { vendors: ["others"] } });
    expect((await foreign.push()).body["error"]).toBe("unauthorized_client");
    const disabled = await testBroker({ vendor: { enabled: false } });
    expect((await disabled.push()).body["error"]).toBe("invalid_request");
    const unapproved = { ...testVendor(), setup: "vendor_approval" as const };
    const waiting = await testBroker({ config: { vendors: new Map([["acme", unapproved]]) } });
    expect((await waiting.push()).body["error"]).toBe("unauthorized_client");
  });
});

describe("bar#XA-9 a vendor whose credentials clients of several owners share", () => {
  /**
   * Two brokers on one store: the second is the first after a restart, with a client of another
   * owner in its configuration.
   */
  const beforeAndAfter = async () => {
    const folder = mkdtempSync(join(tmpdir(), "owners-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const broker = async (clients: readonly ClientConfig[]) => {
      const started = await testBroker({
        config: { clients, store: { kind: "sqlite", path: join(folder, "broker.sqlite") } },
        vendor: { revocationEndpoint: "https://acme.example/revoke" },
        vendorAnswers: async () => Response.json({ access_token: "at", token_type: "bearer", refresh_token: "rt" }),
      });
      onTestFinished(() => started.close());
      return started;
    };
    const [own, foreign] = [testClient("platform"), { ...testClient("other"), owner: "globex" }];
    return { before: await broker([own]), after: await broker([own, foreign]) };
  };

  it("bar#XA-9 asks before a pushed flow leaves, and goes on with what left before: later legs, refresh and revoke", async () => {
    const { before, after } = await beforeAndAfter();
    const pushed = before.authorizePath((await before.push()).body["request_uri"]);
    const left = await before.start();
    const code = await before.park();
    const connection = String((await before.redeem(await before.park())).body["connection"]);
    const { get, callback, redeem, post } = after;
    const asked = await get(pushed);
    expect([asked.response.status, asked.location]).toEqual([200, undefined]);
    const back = await callback({ state: left.state, code: "vendor-code" }, left.cookie);
    expect(back.location?.searchParams.has("code")).toBe(true);
    expect((await redeem(code)).response.status).toBe(200);
    const refresh = { grant_type: "refresh_token", refresh_token: "rt", connection };
    expect((await post("/v1/token", refresh)).response.status).toBe(200);
    expect((await post("/v1/revoke", { token: "at", connection })).response.status).toBe(200);
    expect((await post("/v1/explain", { connection })).response.status).toBe(200);
  });
});

describe("leg 2, GET /v1/authorize", () => {
  it("leaves for the vendor with each parameter once and a cookie of this flow", async () => {
    const { start } = await testBroker();
    const { location, cookie } = await start({
      vendor_params: '{"access_type":"offline"}',
      login_hint: "user@acme.example",
    });
    const names = [...(location?.searchParams.keys() ?? [])];
    expect(new Set(names).size).toBe(names.length);
    expect(Object.fromEntries(location?.searchParams ?? [])).toMatchObject({
      client_id: "ours",
      redirect_uri: `${ISSUER}/v1/callback`,
      response_type: "code",
      scope: "read",
      code_challenge_method: "S256",
      access_type: "offline",
      login_hint: "user@acme.example",
    });
    expect(cookie).toMatch(/^__Host-flow-[A-Za-z0-9_-]{22}=[A-Za-z0-9_-]{43}$/);
  });

  it("bar#ST-10 refuses a request_uri that was never issued although its flow exists, and burns nothing", async () => {
    const { push, get, authorizePath } = await testBroker();
    const requestUri = String((await push()).body["request_uri"]);
    const guessed = requestUri.replace(/\.[\w-]{43}$/, `.${"A".repeat(43)}`);
    expect(guessed).not.toBe(requestUri);
    expect(await get(authorizePath(guessed))).toMatchObject(refusedPage("request_uri_unknown"));
    expect((await get(authorizePath(requestUri))).response.status).toBe(303);
  });

  it("rfc9126#2.2 allows the same browser to go back and reload, and no other browser to use the request_uri again", async () => {
    const { start, get } = await testBroker();
    const { path, cookie, location } = await start();
    expect((await get(path, cookie)).location?.href).toBe(location?.href);
    expect(await get(path)).toMatchObject(refusedPage("request_uri_used"));
    expect(await get(path, cookie.replace(/.$/, "_"))).toMatchObject(refusedPage("request_uri_used"));
  });

  it("rfc9700#4.7 sends the cookie Secure, HttpOnly, Lax and for this host only", async () => {
    const { push, get, authorizePath } = await testBroker();
    const { response } = await get(authorizePath((await push()).body["request_uri"]));
    expect(response.headers.get("set-cookie")).toMatch(/; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/);
  });

  it("answers a page, and no redirect, until client and request_uri are known", async () => {
    const { push, get, authorizePath } = await testBroker();
    const path = authorizePath((await push()).body["request_uri"]);
    for (const wrong of [
      path.replace("platform", "other"),
      path.slice(0, -1),
      "/v1/authorize",
      "/v1/authorize?client_id=platform",
    ]) {
      expect(await get(wrong)).toMatchObject({
        location: undefined,
        response: expect.objectContaining({ status: 400 }),
      });
    }
    expect((await get(path)).response.status).toBe(303);
  });

  it("spends nothing while the vendor is unreachable, and continues once it is back", async () => {
    const { push, get, authorizePath, deps } = await testBroker();
    const path = authorizePath((await push()).body["request_uri"]);
    const { resolve } = deps.vendorClient;
    const down = new OAuthError("temporarily_unavailable", "The vendor does not answer");
    Object.assign(deps.vendorClient, { resolve: async () => Promise.reject(down) });
    const refused = await get(path);
    expect(refused.location?.href.startsWith(`${REDIRECT_URI}?error=temporarily_unavailable`)).toBe(true);
    expect(refused.location?.searchParams.has("retry")).toBe(false);
    expect(refused.cookie).toBeUndefined();
    Object.assign(deps.vendorClient, { resolve });
    expect((await get(path)).location?.host).toBe("acme.example");
  });

  it("bar#XA-5 does not leave for a vendor that was pointed elsewhere since the request was pushed", async () => {
    const vendors = new Map([["acme", testVendor()]]);
    const { push, get, authorizePath } = await testBroker({ config: { vendors } });
    const path = authorizePath((await push()).body["request_uri"]);
    vendors.set("acme", testVendor({ authorizationEndpoint: "https://evil.example/authorize" }));
    const { location } = await get(path);
    expect(location?.host).toBe("platform.example");
    expect(Object.fromEntries(location?.searchParams ?? [])).toMatchObject({
      reason: "context_changed",
      retry: "restart",
    });
  });

  it("tells another browser with a used request_uri nothing, also while the vendor is down", async () => {
    const { start, get, deps } = await testBroker();
    const { path } = await start();
    const down = new OAuthError("temporarily_unavailable", "The vendor does not answer");
    Object.assign(deps.vendorClient, { resolve: async () => Promise.reject(down) });
    expect(await get(path)).toMatchObject(refusedPage("request_uri_used"));
  });

  it("bar#CB-7 takes no cookie it could not have set", async () => {
    const { push, get, authorizePath } = await testBroker();
    const requestUri = String((await push()).body["request_uri"]);
    const flowId = /request_uri:([^.]+)\./.exec(requestUri)?.[1] ?? "";
    const { cookie } = await get(authorizePath(requestUri), `__Host-flow-${flowId}=x;Domain=evil.example`);
    expect(cookie).toMatch(/=[A-Za-z0-9_-]{43}$/);
  });

  it("spends nothing on the HEAD of a link preview", async () => {
    const { push, app, get, authorizePath } = await testBroker();
    const path = authorizePath((await push()).body["request_uri"]);
    const head = await app.request(`${ISSUER}${path}`, { method: "HEAD" });
    expect([head.status, head.headers.get("allow")]).toEqual([405, "GET, POST"]);
    expect((await get(path)).response.status).toBe(303);
  });

  it("bar#VR-3 bar#VR-1 sends a fresh challenge and nonce per flow and stores neither verifier nor nonce", async () => {
    const { start, deps } = await testBroker({
      vendor: { issuer: "https://acme.example", jwksUri: "https://acme.example/jwks" },
    });
    const [one, two] = [await start({ scope: "openid" }), await start({ scope: "openid" })];
    for (const name of ["code_challenge", "nonce", "state"]) {
      expect(one.location?.searchParams.get(name)).not.toBe(two.location?.searchParams.get(name));
    }
    const id = /flow-([^=]+)=/.exec(one.cookie)?.[1] ?? "";
    const record = JSON.stringify(await deps.records.get({ kind: "flow", id }));
    expect(record).not.toContain(one.location?.searchParams.get("nonce"));
    expect(record).not.toContain(one.cookie.split("=")[1]);
  });
});
