import { shared } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { SERVER } from "../../testing/hosted-fixture.ts";
import { BACK, expectPage, location, openOpenIdServerFixture, STATE } from "../../testing/server-fixture.ts";

const fixture = shared(openOpenIdServerFixture);

const asked = (path: string): number => fixture.provider.requests().filter((one) => one.path === path).length;

describe("a user connects", () => {
  it("bar#AS-18 from the page over the vendor to the client, to tokens of ours and to /mcp", async () => {
    const back = await fixture
      .browser()
      .connect({ scope: "api:read", resource: `${SERVER}/mcp`, response_mode: "query" });
    expect(back.href.startsWith(`${BACK}?`)).toBe(true);
    expect(Object.fromEntries(back.searchParams)).toEqual({
      code: expect.stringMatching(/^[\w-]{22}\.[\w-]{43}$/),
      state: STATE,
      iss: SERVER,
      flow_id: expect.stringMatching(/^[\w-]{22}$/),
    });
    expect(back.searchParams.getAll("iss")).toHaveLength(1);
    const { status, body, headers } = await fixture.redeem(back.searchParams.get("code"));
    expect([status, body["scope"], headers.get("cache-control")]).toEqual([200, "openid api:read", "no-store"]);
    const caller = await fixture.authenticate(body["access_token"] ?? "");
    expect(caller).toMatchObject({ user: "user", clientId: "desk", scope: ["openid", "api:read"] });
    const vendorToken = (await caller?.vendorToken())?.accessToken.reveal() ?? "";
    const me = await fetch(`${fixture.provider.issuer}/me`, { headers: { authorization: `Bearer ${vendorToken}` } });
    expect(await me.json()).toMatchObject({ sub: "user" });
    expect(JSON.stringify(body)).not.toContain(vendorToken);
    const next = await fixture.refresh(body["refresh_token"]);
    expect(await fixture.authenticate(next.body["access_token"] ?? "")).toMatchObject({ user: "user" });
    const secrets = [vendorToken, body["access_token"], body["refresh_token"], back.searchParams.get("code")];
    for (const secret of secrets) expect(fixture.lines.join("")).not.toContain(secret);
  });

  it("bar#AS-17 metadata says what there is: iss, S256, registration and documents if on", async () => {
    const answer = await fixture.request("/.well-known/oauth-authorization-server");
    expect(await answer.json()).toMatchObject({
      issuer: SERVER,
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: false,
      code_challenge_methods_supported: ["S256"],
    });
    expect((await fixture.register({ redirect_uris: [BACK] })).status).toBe(404);
  });

  it("with a PKCE #2 and a nonce of its own in every flow, neither of them the client's", async () => {
    const browser = fixture.browser();
    const [first, second] = [await browser.approve(), await browser.approve()];
    const names = ["code_challenge", "nonce", "state"];
    const ours = [first, second].flatMap(({ searchParams }) => names.map((name) => searchParams.get(name) ?? ""));
    expect(new Set(ours).size).toBe(6);
    for (const value of ours) expect(value).toMatch(/^[\w.-]{43,}$/);
    expect(ours).not.toContain("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    expect(first.searchParams.get("redirect_uri")).toBe(`${SERVER}/callback`);
  });

  it("without state, and then none comes back", async () => {
    const back = await fixture.browser().connect({ state: undefined });
    expect(back.searchParams.has("state")).toBe(false);
  });
});

describe("bar#AS-7 no browser reaches the vendor before the user approved", () => {
  it("the page asks no vendor, sets no cookie of a flow, and names client, way back and scopes", async () => {
    await using untouched = await openOpenIdServerFixture();
    const answer = await untouched.browser().authorize({ scope: "api:read" });
    const html = await answer.text();
    for (const text of ["Desk", "desk.example", BACK, "server.example", "Sandbox", "openid api:read"])
      expect(html).toContain(text);
    expect(untouched.provider.requests()).toEqual([]);
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-flow-consent=[\w-]{43}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/),
    ]);
  });

  it("may not be framed, runs and loads nothing, and sends the vendor no referrer", async () => {
    const { headers } = await fixture.browser().authorize();
    expect(headers.get("x-frame-options")).toBe("DENY");
    expect(headers.get("content-security-policy")).toMatch(
      /^default-src 'none'; frame-ancestors 'none'; base-uri 'none'; style-src 'sha256-[^']+'$/,
    );
    // Not no-referrer: the form would be posted from Origin null.
    expect(headers.get("referrer-policy")).toBe("same-origin");
    expect(headers.get("cache-control")).toBe("no-store");
  });

  it("the cookie of the flow comes with the redirect to the vendor", async () => {
    const browser = fixture.browser();
    const answer = await browser.decide(await browser.ask());
    expect(location(answer).origin).toBe(fixture.provider.issuer);
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-flow-[\w-]{22}=[\w-]{43}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/),
    ]);
    expect(answer.headers.get("referrer-policy")).toBe("no-referrer");
  });

  it("a known state without approval leads nowhere: there is no record of it", async () => {
    const before = asked("/token");
    const page = await fixture.browser().get(`/callback?code=c&state=${"A".repeat(22)}.${"A".repeat(43)}`);
    expect(await expectPage(page)).toContain("state_unknown");
    expect(asked("/token")).toBe(before);
  });

  it("a refusal redirects back at once, with access_denied", async () => {
    const browser = fixture.browser();
    const before = fixture.provider.requests().length;
    const answer = await browser.decide(await browser.ask(), "deny");
    expect(Object.fromEntries(location(answer).searchParams)).toMatchObject({
      error: "access_denied",
      state: STATE,
      iss: SERVER,
    });
    expect(fixture.provider.requests()).toHaveLength(before);
    expect(answer.headers.getSetCookie()).toEqual([]);
  });

  it.each([undefined, "yes", "approve "])("a decision %j is refused", async (decision) => {
    const browser = fixture.browser();
    const { fields } = await browser.ask();
    const back = location(await browser.post("/authorize", { ...fields, decision }));
    expect([back.origin, back.searchParams.get("error")]).toEqual(["https://desk.example", "invalid_request"]);
  });
});

describe("bar#AS-22 the vendor's refusal", () => {
  it.each(["cancel", "cancel-sign-in"] as const)("on its page: %s", async (decision) => {
    const browser = fixture.browser();
    const callback = await browser.consent(await browser.approve(), { decision });
    const back = await browser.finish(callback);
    expect(back.href.startsWith(`${BACK}?`)).toBe(true);
    expect(Object.fromEntries(back.searchParams)).toMatchObject({
      error: "access_denied",
      state: STATE,
      iss: SERVER,
    });
    expect(back.searchParams.getAll("iss")).toHaveLength(1);
    // The error was reported, so the flow is over.
    await expectPage(await browser.get(callback));
  });

  it.each([
    ["temporarily_unavailable", "temporarily_unavailable"],
    ["invalid_scope", "invalid_scope"],
    ["unauthorized_client", "vendor_credentials_rejected"],
    ["<script>", "server_error"],
  ])("%s becomes our error %s", async (error, reported) => {
    const browser = fixture.browser();
    const state = (await browser.approve()).searchParams.get("state") ?? "";
    const query = new URLSearchParams({ error, error_description: "canary<b>", state, iss: fixture.provider.issuer });
    const back = await browser.finish(new URL(`${SERVER}/callback?${query.toString()}`));
    expect(back.searchParams.get("error")).toBe(reported);
    expect(back.href).not.toContain("canary");
  });

  it.each([{ error_code: "1349003", error_message: "canary" }, {}])(
    "bar#CB-11 neither code nor error is our server_error: %j (h23)",
    async (sent) => {
      const browser = fixture.browser();
      const state = (await browser.approve()).searchParams.get("state") ?? "";
      const query = new URLSearchParams({ ...sent, state, iss: fixture.provider.issuer });
      const back = await browser.finish(new URL(`${SERVER}/callback?${query.toString()}`));
      expect(back.searchParams.get("error")).toBe("server_error");
      expect(back.href).not.toContain("canary");
    },
  );
});

describe("users with tabs, reloads, previews and several devices", () => {
  it("survives a double GET and a reload: every page can be answered", async () => {
    const browser = fixture.browser();
    const pages = [await browser.ask(), await browser.ask(), await browser.ask()];
    expect(new Set(pages.map(({ fields }) => fields["csrf"])).size).toBe(1);
    for (const page of pages) expect((await browser.decide(page)).status).toBe(303);
  });

  it("two tabs, of two clients, finish on their own, in whatever order", async () => {
    const browser = fixture.browser();
    const first = await browser.ask({ state: "one" });
    const second = await browser.ask({
      state: "two",
      client_id: "other",
      redirect_uri: "https://other.example/back",
    });
    const left = [location(await browser.decide(second)), location(await browser.decide(first))];
    const [two, one] = [await browser.consent(left[0]!), await browser.consent(left[1]!)];
    expect((await browser.finish(one)).searchParams.get("state")).toBe("one");
    const back = await browser.finish(two);
    expect([back.origin, back.searchParams.get("state")]).toEqual(["https://other.example", "two"]);
  });

  it("a second GET of the callback is a page, and does not disturb the client", async () => {
    const browser = fixture.browser();
    const callback = await browser.consent(await browser.approve());
    const back = await browser.finish(callback);
    expect(await expectPage(await browser.get(callback))).toContain("already answered");
    expect((await fixture.redeem(back.searchParams.get("code"))).status).toBe(200);
  });

  it.each(["sec-purpose", "purpose", "x-moz"])("a prefetch of the callback, by %s, spends nothing", async (name) => {
    const browser = fixture.browser();
    const callback = await browser.consent(await browser.approve());
    const headers = { [name]: "prefetch", cookie: browser.jar.header(callback) ?? "" };
    const ahead = await fixture.request(callback.pathname + callback.search, { headers });
    expect([ahead.status, ahead.headers.get("cache-control")]).toEqual([403, "no-store"]);
    const back = await browser.finish(callback);
    expect((await fixture.redeem(back.searchParams.get("code"))).status).toBe(200);
  });

  it("HEAD, as of a link preview, is 405 and spends nothing", async () => {
    const browser = fixture.browser();
    const callback = await browser.consent(await browser.approve());
    for (const path of [callback.pathname + callback.search, "/authorize"]) {
      const answer = await fixture.request(path, {
        method: "HEAD",
        headers: { cookie: browser.jar.header(callback) ?? "" },
      });
      expect(answer.status).toBe(405);
    }
    expect((await fixture.request("/callback", { method: "POST" })).status).toBe(405);
    expect((await browser.finish(callback)).searchParams.has("code")).toBe(true);
  });
});
