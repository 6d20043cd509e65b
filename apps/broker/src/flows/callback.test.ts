/**
 * Leg 3, and what it refuses. e2e/scenarios has a journey of it over the wire, with a real vendor.
 */
import { describe, expect, it } from "vitest";
import { ISSUER, REDIRECT_URI, testBroker, testVendor } from "../testing/test-broker.ts";

const refusedPage = (reason: string) => ({
  response: expect.objectContaining({ status: 400 }),
  location: undefined,
  html: expect.stringContaining(reason),
});

describe("leg 3, GET /v1/callback", () => {
  it("rfc6749#4.1.2 rfc9207#2 returns code, state byte for byte, iss and flow_id, and clears the cookie", async () => {
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
    expect(await callback({ state, code: "evil" })).toMatchObject(refusedPage("browser_mismatch"));
    expect(await callback({ state, code: "evil" }, cookie.replace(/.$/, "_"))).toMatchObject(
      refusedPage("browser_mismatch"),
    );
    expect((await callback({ state, code: "vendor-code" }, cookie)).response.status).toBe(303);
  });

  it("bar#CB-8 leaves the binding to a platform that proxies the callback, when its client says so", async () => {
    const { start, callback } = await testBroker({ client: { browserBinding: "platform" } });
    const { state } = await start();
    expect((await callback({ state, code: "vendor-code" })).response.status).toBe(303);
  });

  it.each<[string, Record<string, string>]>([
    ["neither code nor error", {}],
    ["an empty code", { code: "" }],
    ["code and error", { code: "c", error: "access_denied" }],
    ["a front-channel token", { code: "c", access_token: "t" }],
    ["an ID token", { code: "c", id_token: "t" }],
    ["profile data", { code: "c", user: "{}" }],
    ["a code of 8 KB", { code: "c".repeat(8192) }],
  ])("bar#CB-11 refuses %s and burns the flow", async (_, parameters) => {
    const { start, callback, seen } = await testBroker();
    const { state, cookie } = await start();
    expect(await callback({ state, ...parameters }, cookie)).toMatchObject(refusedPage("malformed_response"));
    expect(await callback({ state, code: "c" }, cookie)).toMatchObject(refusedPage("state_replayed"));
    expect(seen).toEqual([]);
  });

  it("bar#CB-16 bar#CB-9 refuses an answer of another issuer, errors included, and burns the flow", async () => {
    const vendor = { issuer: "https://acme.example", issRequired: true };
    for (const answer of [
      { iss: "https://evil.example" },
      { iss: "" },
      {},
      { iss: "https://acme.example/", error: "access_denied" },
    ]) {
      const { start, callback } = await testBroker({ vendor });
      const { state, cookie } = await start();
      const parameters = "error" in answer ? answer : { code: "c", ...answer };
      const refused = await callback({ state, ...(parameters as Record<string, string>) }, cookie);
      expect(refused).toMatchObject(
        refusedPage(Object.keys(answer).length === 0 ? "missing_issuer" : "issuer_mismatch"),
      );
      expect(refused.html).not.toContain("access_denied");
      expect(await callback({ state, code: "c", iss: "https://acme.example" }, cookie)).toMatchObject(
        refusedPage("state_replayed"),
      );
    }
  });

  it("burns the flow when the client's redirect URI or the vendor was withdrawn meanwhile", async () => {
    const vendors = new Map([["acme", testVendor()]]);
    const { start, callback } = await testBroker({ config: { vendors } });
    const { state, cookie } = await start();
    vendors.set("acme", { ...testVendor(), credentials: [] });
    expect((await callback({ state, code: "c" }, cookie)).response.status).toBe(400);
    vendors.set("acme", testVendor());
    expect(await callback({ state, code: "c" }, cookie)).toMatchObject(refusedPage("state_replayed"));
  });

  it("bar#CB-16 requires iss when it was expected at the start of the flow, whatever the metadata says now", async () => {
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
    const { start, get } = await testBroker();
    const { state, cookie } = await start();
    const path = `/v1/custom/${"x".repeat(22)}/callback?${new URLSearchParams({ state, code: "c" }).toString()}`;
    const refused = await get(path, cookie);
    expect(refused).toMatchObject(refusedPage("path_mismatch"));
    expect(refused.html).toContain(/flow-([^=]+)=/.exec(cookie)?.[1]);
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
    const { start, app, get } = await testBroker();
    const { state, cookie } = await start();
    const posted = await app.request(`${ISSUER}/v1/callback`, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ state, code: "vendor-code" }).toString(),
    });
    expect(posted.status).toBe(303);
    expect(posted.headers.get("set-cookie")).toBeNull();
    expect((await get(posted.headers.get("location") ?? "", cookie)).location?.searchParams.has("code")).toBe(true);
    const put = await app.request(`${ISSUER}/v1/callback`, { method: "PUT" });
    expect([put.status, put.headers.get("allow")]).toEqual([405, "GET, POST"]);
  });

  it.each([
    ["access_denied", "access_denied"],
    ["user_cancelled_login", "access_denied"],
    ["temporarily_unavailable", "temporarily_unavailable"],
    ["invalid_scope", "invalid_scope"],
    ["unauthorized_client", "vendor_credentials_rejected"],
    ["something_else", "server_error"],
  ])("rfc6749#4.1.2.1 relays the vendor's %s as %s", async (theirs, ours) => {
    const { start, callback, lines } = await testBroker();
    const { state, cookie } = await start();
    const { location } = await callback({ state, error: theirs, error_description: "<b>alert</b>" }, cookie);
    expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({
      status: 303,
      error: ours,
      reason: ours,
      vendor_error: theirs,
    });
    expect(Object.fromEntries(location?.searchParams ?? [])).toMatchObject({
      error: ours,
      vendor_error: theirs,
      state: "the platform's own state & more",
      iss: ISSUER,
      flow_id: expect.any(String),
      ...(ours === "vendor_credentials_rejected" ? { credentials_source: "shared" } : {}),
    });
    expect(location?.href).not.toContain("alert");
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
});
