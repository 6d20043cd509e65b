/**
 * Leg 3, and what it refuses. e2e/scenarios has a journey of it over the wire, with a real vendor.
 */
import { describe, expect, it } from "vitest";
import {
  flowIdOf,
  formPost,
  ISSUER,
  lose,
  refusedPage,
  REDIRECT_URI,
  testBroker,
  testVendor,
} from "../testing/test-broker.ts";

describe("leg 3, GET /v1/callback", () => {
  it("rfc6749#4.1.2 rfc9207#2 returns code, exact state, iss and flow_id, and clears the cookie", async () => {
    const { start, callback } = await testBroker();
    const { state, cookie } = await start();
    const back = await callback({ state, code: "vendor-code" }, cookie);
    expect(back.location?.href.startsWith(`${REDIRECT_URI}?`)).toBe(true);
    expect(Object.fromEntries(back.location?.searchParams ?? [])).toEqual({
      code: expect.stringMatching(/^[\w-]{22}\.[\w-]{43}$/),
      state: "the platform's own state & more",
      iss: ISSUER,
      flow_id: expect.stringMatching(/^[\w-]{22}$/),
    });
    expect(back.response.headers.get("set-cookie")).toContain("Max-Age=0");
  });

  it("bar#CB-7 turns a foreign browser away without harm to the flow", async () => {
    const { start, callback } = await testBroker();
    const { state, cookie } = await start();
    const elsewhere = await callback({ state, code: "evil" });
    expect(elsewhere).toMatchObject(refusedPage("browser_mismatch"));
    expect(elsewhere.html).toContain(flowIdOf(cookie));
    expect(await callback({ state, code: "evil" }, cookie.replace(/.$/, "_"))).toMatchObject(
      refusedPage("browser_mismatch"),
    );
    // Something in between may have joined the cookies without a space.
    expect((await callback({ state, code: "vendor-code" }, `a=b;${cookie};c=d`)).response.status).toBe(303);
  });

  it("is not spent by a browser that prefetches, and neither is the request before it", async () => {
    const { push, authorizePath, get } = await testBroker();
    const ahead = { headers: { "sec-purpose": "prefetch;prerender" } };
    const path = authorizePath((await push()).body["request_uri"]);
    expect((await get(path, undefined, ahead)).response.status).toBe(403);
    const { location, cookie } = await get(path);
    const state = location?.searchParams.get("state") ?? "";
    const back = `/v1/callback?${new URLSearchParams({ state, code: "vendor-code" }).toString()}`;
    expect((await get(back, cookie, ahead)).response.status).toBe(403);
    const { response, location: toClient } = await get(back, cookie);
    expect([response.status, toClient?.searchParams.has("code")]).toEqual([303, true]);
  });

  it("ends the oldest cookies of a browser that was led through many flows", async () => {
    const { start, get } = await testBroker();
    const { path, cookie } = await start();
    const many = Array.from({ length: 30 }, (_, at) => `__Host-flow-${at}=v`);
    const { response } = await get(path, [...many, cookie].join("; "));
    const ended = response.headers.getSetCookie().filter((one) => one.includes("Max-Age=0"));
    expect(ended.map((one) => one.split("=")[0])).toEqual(many.slice(0, 11).map((one) => one.split("=")[0]));
  });

  it("bar#CB-3 refuses a replay by a page that names the flow, with the cookie and without", async () => {
    const { start, callback } = await testBroker();
    const { state, cookie } = await start();
    await callback({ state, code: "c" }, cookie);
    for (const browser of [cookie, undefined]) {
      const replayed = await callback({ state, code: "c" }, browser);
      expect(replayed).toMatchObject(refusedPage("state_replayed"));
      expect(replayed.html).toContain(flowIdOf(cookie));
    }
  });

  it("bar#CB-1 names flow and client to a user who is too late, without a vendor call", async () => {
    const { start, callback, now, seen, lines } = await testBroker({ client: { name: "The Platform" } });
    const { state, cookie } = await start();
    now.advance(600);
    const late = await callback({ state, code: "c" }, cookie);
    expect(late).toMatchObject(refusedPage("<code>state_expired</code>"));
    expect(late.html).toContain(flowIdOf(cookie));
    expect(late.html).toContain('href="https://platform.example/">Back to The Platform');
    expect(lines.at(-1)).toContain('"client_id":"platform"');
    expect(seen).toEqual([]);
    const forged = await callback({ state: state.slice(0, -1), code: "c" }, cookie);
    expect(forged).toMatchObject(refusedPage("<code>state_invalid</code>"));
    expect(forged.html).not.toContain(flowIdOf(cookie));
  });

  it("bar#CB-8 leaves the binding to a platform that proxies the callback, if configured", async () => {
    const { start, callback, redeem } = await testBroker({ client: { browserBinding: "platform" } });
    const { state } = await start();
    const { location } = await callback({ state, code: "vendor-code" });
    expect((await redeem(location?.searchParams.get("code") ?? "")).body).toMatchObject({ vendor: "acme" });
  });

  it("bar#CB-11 refuses profile data and burns the flow", async () => {
    const { start, callback, seen } = await testBroker();
    const { state, cookie } = await start();
    expect(await callback({ state, code: "c", user: "{}" }, cookie)).toMatchObject(refusedPage("malformed_response"));
    expect(await callback({ state, code: "c" }, cookie)).toMatchObject(refusedPage("state_replayed"));
    expect(seen).toEqual([]);
  });

  it.each<[string, Record<string, string>, string | null]>([
    ["Facebook's error_code", { error_code: "1349003", error_message: "It\r\nfailed" }, "1349003"],
    ["an error_code that is no code", { error_code: '<b>"\\\u00e9' + "x".repeat(1_000) }, `<b>${"x".repeat(58)}`],
    ["nothing but its state", {}, null],
    ["an empty code", { code: "" }, null],
    ["an empty error", { error: "", error_code: "" }, null],
  ])("bar#CB-11 sends the browser back with server_error for %s, and ends the flow (h23)", async (_, sent, code) => {
    const { start, callback, seen } = await testBroker();
    const { state, cookie } = await start();
    const { location } = await callback({ state, ...sent }, cookie);
    expect(location?.searchParams.get("error")).toBe("server_error");
    expect(location?.searchParams.get("vendor_error")?.replace(/ /g, "") ?? null).toBe(code);
    expect(location?.href).not.toContain("failed");
    expect(await callback({ state, code: "c" }, cookie)).toMatchObject(refusedPage("state_replayed"));
    expect(seen).toEqual([]);
  });

  it.each<[Record<string, string>, string]>([
    [{ code: "c", iss: "https://evil.example" }, "issuer_mismatch"],
    [{ code: "c", iss: "" }, "issuer_mismatch"],
    [{ code: "c" }, "missing_issuer"],
    [{ error: "access_denied", iss: "https://acme.example/" }, "issuer_mismatch"],
  ])("bar#CB-16 bar#CB-9 refuses another issuer's response, and ends the flow: %j", async (answer, reason) => {
    const iss = "https://acme.example";
    const { start, callback } = await testBroker({ vendor: { issuer: iss, issRequired: true } });
    const { state, cookie } = await start();
    const refused = await callback({ state, ...answer }, cookie);
    expect(refused).toMatchObject(refusedPage(reason));
    expect(refused.html).not.toContain("access_denied");
    expect(await callback({ state, code: "c", iss }, cookie)).toMatchObject(refusedPage("state_replayed"));
  });

  it.each([
    [
      "credentials were",
      { ...testVendor(), credentials: [] },
      { error: "vendor_credentials_rejected", credentials_source: "shared" },
    ],
    ["vendor was", testVendor({ enabled: false }), { error: "invalid_request" }],
  ])("burns the flow when the %s withdrawn meanwhile, and tells the client", async (_, withdrawn, told) => {
    const vendors = new Map([["acme", testVendor()]]);
    const { start, callback, seen } = await testBroker({ config: { vendors } });
    const { state, cookie } = await start();
    vendors.set("acme", withdrawn);
    expect(await callback({ state, code: "c" })).toMatchObject(refusedPage("browser_mismatch"));
    const { location, response } = await callback({ state, code: "c" }, cookie);
    const parameters = Object.fromEntries(location?.searchParams ?? []);
    expect(parameters).toMatchObject({ ...told, iss: ISSUER, flow_id: flowIdOf(cookie) });
    expect(response.headers.get("set-cookie")).toContain("Max-Age=0");
    vendors.set("acme", testVendor());
    expect(await callback({ state, code: "c" }, cookie)).toMatchObject(refusedPage("state_replayed"));
    expect(seen).toEqual([]);
  });

  it("bar#CB-16 requires iss if the flow expected it, even if the metadata has changed", async () => {
    const issuer = "https://acme.example";
    const vendors = new Map([["acme", testVendor({ issuer, issRequired: true })]]);
    const { start, callback } = await testBroker({ config: { vendors } });
    const [without, with_] = [await start(), await start()];
    vendors.set("acme", testVendor({ issuer, issRequired: false }));
    const refused = await callback({ state: without.state, code: "c" }, without.cookie);
    expect(refused).toMatchObject(refusedPage("missing_issuer"));
    const taken = await callback({ state: with_.state, code: "c", iss: issuer }, with_.cookie);
    expect(taken.location?.searchParams.has("code")).toBe(true);
  });

  it("bar#XA-1 refuses an answer on another path", async () => {
    const { start, get, seen } = await testBroker();
    const { state, cookie } = await start();
    const query = new URLSearchParams({ state, code: "c" }).toString();
    for (const context of ["c0ntext", "x".repeat(22)]) {
      const refused = await get(`/v1/custom/${context}/callback?${query}`, cookie);
      expect(refused).toMatchObject(refusedPage("path_mismatch"));
      expect(refused.html).toContain(flowIdOf(cookie));
    }
    expect(await get("/v1/custom/c0ntext/callback", cookie, formPost("x=y"))).toMatchObject(
      refusedPage("path_mismatch"),
    );
    expect(seen).toEqual([]);
  });

  it("bar#XA-5 refuses a flow whose vendor's endpoints changed meanwhile", async () => {
    const vendors = new Map([["acme", testVendor()]]);
    const { start, callback, park, redeem } = await testBroker({ config: { vendors } });
    const { state, cookie } = await start();
    const code = await park();
    vendors.set("acme", testVendor({ tokenEndpoint: "https://evil.example/token" }));
    expect(await callback({ state, code: "c" }, cookie)).toMatchObject(refusedPage("context_mismatch"));
    expect((await redeem(code)).body).toMatchObject({ error: "invalid_grant", reason: "context_changed" });
  });

  it("bar#CB-12 turns form_post into a GET, so that the cookie is there", async () => {
    const { start, get } = await testBroker();
    const { state, cookie } = await start();
    const posted = await get("/v1/callback", undefined, formPost(`state=${state}&code=vendor-code`));
    const { pathname, search } = posted.location ?? new URL(ISSUER);
    expect([posted.response.status, pathname, posted.cookie]).toEqual([303, "/v1/callback", undefined]);
    expect((await get(pathname + search, cookie)).location?.searchParams.has("code")).toBe(true);
  });

  it("bar#CB-12 bar#CB-16 keeps an empty iss of a form_post an empty one", async () => {
    const { get } = await testBroker();
    const { location } = await get("/v1/callback", undefined, formPost("state=s&code=c&iss="));
    expect(location?.searchParams.get("iss")).toBe("");
  });

  it.each<[string, number, RequestInit]>([
    ["that is JSON", 415, { ...formPost('{"code":"r3flect"}'), headers: { "content-type": "application/json" } }],
    ["over the limit", 413, formPost(`code=${"r3flect".repeat(20_000)}`)],
    ["that would not fit into a request line", 400, formPost(`code=${"r3flect".repeat(2000)}`)],
    ["with a name twice", 400, formPost("code=r3flect&code=x")],
  ])("refuses a form_post %s", async (_, status, init) => {
    const { get } = await testBroker();
    expect((await get("/v1/callback", undefined, init)).response.status).toBe(status);
  });

  it.each([
    ["bar#HT-4 broken escapes", "&scope=Ren%E9"],
    ["bar#HT-3 a name twice", "&scope=a&scope=b"],
    ["bar#HT-4 a NUL", "&scope=%00"],
  ])("names the flow and its client when it refuses %s, and burns nothing", async (_, malformed) => {
    const { start, get, callback } = await testBroker({ client: { name: "The Platform" } });
    const { state, cookie } = await start();
    const sent = `state=${state}&code=vendor-code${malformed}`;
    for (const init of [undefined, formPost(sent)]) {
      const refused = await get(init === undefined ? `/v1/callback?${sent}` : "/v1/callback", cookie, init);
      expect(refused).toMatchObject(refusedPage(flowIdOf(cookie)));
      expect(refused.html).toContain('href="https://platform.example/">Back to The Platform');
    }
    expect((await callback({ state, code: "vendor-code" }, cookie)).response.status).toBe(303);
  });

  it("bar#CB-1 names no flow when state is there twice, or is not ours", async () => {
    const { start, get } = await testBroker();
    const { state, cookie } = await start();
    for (const states of [`state=${state}&state=${state}`, `state=${state.slice(0, -4)}&x=%E9`, "state=%E9"]) {
      const refused = await get(`/v1/callback?${states}&code=c`, cookie);
      expect(refused.response.status).toBe(400);
      expect(refused.html).not.toContain(flowIdOf(cookie));
      expect(refused.html).not.toContain("href=");
    }
  });

  it("bar#CB-12 spends nothing on another method", async () => {
    const { start, get, callback } = await testBroker();
    const { state, cookie } = await start();
    for (const method of ["HEAD", "PUT", "DELETE"]) {
      const { response } = await get(`/v1/callback?state=${state}&code=c`, cookie, { method });
      expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, POST"]);
    }
    expect((await callback({ state, code: "c" }, cookie)).response.status).toBe(303);
    const elsewhere = await get("/v1/callback/", undefined, { method: "HEAD", headers: { accept: "text/html" } });
    expect(elsewhere.response.status).toBe(404);
  });

  it.each([
    ["access_denied", "access_denied"],
    ["user_cancelled_login", "access_denied"],
    ["user_cancelling", "access_denied"],
    ["temporarily_unavailable", "temporarily_unavailable"],
    ["invalid_scope", "invalid_scope"],
    ["unauthorized_client", "vendor_credentials_rejected"],
    ["something_else", "server_error"],
  ])("rfc6749#4.1.2.1 relays the vendor's %s as %s", async (theirs, ours) => {
    const { start, callback, lines } = await testBroker();
    const { state, cookie } = await start();
    const { location } = await callback({ state, error: theirs, error_description: "<b>alert</b>" }, cookie);
    const logged = { status: 303, error: ours, reason: ours, vendor_error: theirs };
    expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject(logged);
    expect(Object.fromEntries(location?.searchParams ?? [])).toMatchObject({
      error: ours,
      vendor_error: theirs,
      state: "the platform's own state & more",
      iss: ISSUER,
      flow_id: expect.any(String),
    });
    const source = ours === "vendor_credentials_rejected" ? "shared" : null;
    expect(location?.searchParams.get("credentials_source")).toBe(source);
    expect(location?.href).toMatch(/^https:\/\/platform\.example\/cb\?(?!.*alert)/);
    expect(await callback({ state, code: "c" }, cookie)).toMatchObject(refusedPage("state_replayed"));
  });

  it("bar#CB-13 bar#CB-14 redirects with 303 and headers that keep the code from leaking", async () => {
    const { start, callback } = await testBroker();
    const { state, cookie } = await start();
    const { response } = await callback({ state, code: "c" }, cookie);
    expect(response.status).toBe(303);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "content-security-policy": expect.stringContaining("frame-ancestors 'none'"),
    });
  });

  it.each<[string, () => Response, Record<string, string>]>([
    ["a lost answer", () => lose(), { error: "temporarily_unavailable", retry: "restart" }],
    ["a wrong answer", () => new Response("r3flect"), { error: "vendor_response_invalid" }],
    [
      "refused credentials",
      () => Response.json({ error: "invalid_client" }, { status: 401 }),
      { error: "vendor_credentials_rejected", credentials_source: "shared" },
    ],
  ])("bar#CB-17 sends %s of a vendor that is asked at once back in the redirect", async (_, answer, members) => {
    const { start, callback } = await testBroker({
      vendor: { redeemAt: "callback" },
      vendorAnswers: async () => answer(),
    });
    const { state, cookie } = await start();
    const { location } = await callback({ state, code: "c" }, cookie);
    const { error, retry, credentials_source } = Object.fromEntries(location?.searchParams ?? []);
    expect({ error, retry, credentials_source }).toEqual(members);
  });
});
