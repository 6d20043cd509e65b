/**
 * What attackers and malicious clients try at the pages. Codes at /token: token-endpoint/redeem-code.test.ts.
 */
import { shared } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { type RequestParameters, SERVER, VERIFIER } from "../../testing/hosted-fixture.ts";
import { watchWrites } from "../../testing/record-stores.ts";
import { expectPage, location, NATIVE, openStubServerFixture, OTHER } from "../../testing/server-fixture.ts";

const fixture = shared(openStubServerFixture);

const vendorVisits = (): number => fixture.stub.requests("/authorize");
const errorOf = (answer: Response) => Object.fromEntries(location(answer).searchParams);

describe("bar#AS-7 the page's form is taken from the browser that saw the page", () => {
  it("not without its cookie, not with another's, not without or with another token", async () => {
    const victim = fixture.browser();
    const attacker = fixture.browser();
    const [theirs, own] = [await victim.ask(), await attacker.ask()];
    const before = vendorVisits();
    const tries = [
      fixture.browser().decide(theirs),
      attacker.decide(theirs),
      victim.decide(own),
      victim.decide({ ...theirs, fields: { ...theirs.fields, csrf: "" } }),
      victim.decide({ ...theirs, fields: { ...theirs.fields, csrf: `${theirs.fields["csrf"]}x` } }),
    ];
    for (const answer of await Promise.all(tries)) {
      expect(await expectPage(answer)).toContain("csrf");
      expect(answer.headers.getSetCookie()).toEqual([]);
    }
    expect(vendorVisits()).toBe(before);
    expect((await victim.decide(theirs)).status).toBe(303);
  });

  it.each(["cross-site", "same-site"])("bar#RS-7 not from a page that is %s", async (site) => {
    const browser = fixture.browser();
    const { fields } = await browser.ask();
    const post = (sent: RequestParameters, from: string) =>
      browser.post("/authorize", { ...fields, ...sent }, { "sec-fetch-site": from });
    expect(await expectPage(await post({ decision: "approve" }, site), 403)).toContain("foreign_form");
    // Without a decision the token alone counts.
    expect(await expectPage(await post({ csrf: "" }, site))).toContain("<code>csrf</code>");
    expect((await post({ decision: "approve" }, "same-origin")).status).toBe(303);
  });

  it("an invalid request has no page, so no form for it is accepted", async () => {
    const browser = fixture.browser();
    const { fields } = await browser.ask();
    await expectPage(await browser.post("/authorize", { ...fields, response_type: "token", decision: "deny" }));
    await expectPage(await browser.post("/authorize", { ...fields, request: "e30.e30.", decision: "approve" }));
    await expectPage(await browser.post("/authorize", {}));
  });

  it("a refusal is not accepted from another browser either", async () => {
    const page = await fixture.browser().ask();
    await expectPage(await fixture.browser().decide(page, "deny"));
  });

  it("a planted cookie that is not ours is ignored", async () => {
    const answer = await fixture.request("/authorize?client_id=desk", {
      headers: { cookie: "__Host-flow-consent=x; y" },
    });
    await expectPage(answer);
    const { fields } = await fixture.browser().ask();
    const body = new URLSearchParams({ ...fields, decision: "approve" });
    const cookie = `flow-consent=${"A".repeat(43)}`;
    await expectPage(await fixture.request("/authorize", { method: "POST", body, headers: { cookie } }));
  });

  it("bar#AS-20 JSON is not a form", async () => {
    const answer = await fixture.request("/authorize", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    expect(answer.status).toBe(415);
  });

  it("the form's own fields in a link do not become part of the form", async () => {
    const browser = fixture.browser();
    const page = await browser.ask({ decision: "approve", csrf: "x", constructor: "y", extra: "z" });
    expect(Object.keys(page.fields).toSorted()).toEqual([
      "client_id",
      "code_challenge",
      "code_challenge_method",
      "csrf",
      "redirect_uri",
      "response_type",
      "state",
    ]);
    expect(errorOf(await browser.decide(page, "deny"))).toMatchObject({ error: "access_denied" });
  });

  it("the form of a request with 64 parameters can be posted", async () => {
    const browser = fixture.browser();
    const many = Object.fromEntries(Array.from({ length: 58 }, (_, index) => [`x${index}`, "1"]));
    expect((await browser.decide(await browser.ask(many))).status).toBe(303);
  });
});

describe("bar#AS-9 an approval for one client is not valid for another", () => {
  it("the token of one client's page, with the request of another", async () => {
    const browser = fixture.browser();
    const { fields } = await browser.ask();
    const answer = await browser.post("/authorize", {
      ...fields,
      client_id: "other",
      redirect_uri: OTHER.redirectUris[0],
      decision: "approve",
    });
    await expectPage(answer);
  });

  it.each([
    ["another way back", { client_id: "native", redirect_uri: "http://127.0.0.1:6666/cb" }],
    ["another challenge", { code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cN" }],
    ["another state", { state: "another" }],
    ["more scope", { scope: "read write" }],
    ["a resource", { resource: `${SERVER}/mcp` }],
  ])("nor with %s", async (_what, changed) => {
    const browser = fixture.browser();
    const asked = { client_id: "native", redirect_uri: NATIVE.redirectUris[0], scope: "read" };
    const { fields } = await browser.ask(asked);
    await expectPage(await browser.post("/authorize", { ...fields, ...changed, decision: "approve" }));
  });

  it("nor for the same one once the deployment requests more", async () => {
    await using more = await openStubServerFixture({ scopes: ["read", "write", "admin"] });
    const browser = fixture.browser();
    const { fields } = await browser.ask();
    const body = new URLSearchParams({ ...fields, decision: "approve" });
    const cookie = browser.jar.header(new URL(SERVER)) ?? "";
    await expectPage(await more.request("/authorize", { method: "POST", body, headers: { cookie } }));
  });

  it("a user who approved is asked again the next time", async () => {
    const browser = fixture.browser();
    await browser.connect();
    expect((await browser.authorize()).status).toBe(200);
  });
});

describe("bar#AS-8 the vendor's redirect in another browser", () => {
  it("is a page, without code and without harm to the flow", async () => {
    const attacker = fixture.browser();
    const callback = await attacker.consent(await attacker.approve());
    const path = callback.pathname + callback.search;
    const victim = fixture.browser();
    // The victim has been here before, and has another flow under way.
    await victim.approve();
    const answer = await victim.get(path);
    expect(await expectPage(answer)).toContain("browser_mismatch");
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect((await attacker.finish(callback)).searchParams.has("code")).toBe(true);
  });

  it("nor does the cookie of another flow, or of the page, help", async () => {
    const browser = fixture.browser();
    const one = await browser.approve();
    const callback = await browser.consent(one);
    const flowId = one.searchParams.get("state")?.split(".")[0] ?? "";
    await browser.approve();
    const others = (browser.jar.header(new URL(SERVER)) ?? "").split("; ").filter((pair) => !pair.includes(flowId));
    expect(others).toHaveLength(2);
    const forged = others.map((pair) => `__Host-flow-${flowId}=${pair.split("=")[1]}`);
    for (const cookie of [...forged, others.join("; ")]) {
      const answer = await fixture.request(callback.pathname + callback.search, { headers: { cookie } });
      expect(await expectPage(answer)).toContain("browser_mismatch");
    }
  });

  it.each(["", "x", `${"A".repeat(22)}.${"B".repeat(43)}`])("a state that is not ours: %j", async (state) => {
    await expectPage(await fixture.browser().get(`/callback?code=c&state=${state}`));
  });

  it("a parameter twice: the page names the flow", async () => {
    const browser = fixture.browser();
    const callback = await browser.consent(await browser.approve());
    callback.searchParams.append("code", "another");
    const page = await expectPage(await browser.get(callback));
    expect(page).toContain((callback.searchParams.get("state") ?? "").split(".")[0]);
  });
});

describe("the redirect URI of a program on the user's device", () => {
  it.each(["http://127.0.0.1:65535/cb", "http://[::1]:8080/cb", "http://localhost:5001/cb"])(
    "rfc8252#7.3 may have any port: %s",
    async (redirect_uri) => {
      const { fields, html } = await fixture.browser().ask({ client_id: "native", redirect_uri });
      expect(fields["redirect_uri"]).toBe(redirect_uri);
      expect(html).toContain("The answer goes to a program on this computer.");
    },
  );

  it.each(["http://localhost.evil.example:80/cb", "http://127.0.0.1:80@evil.example/cb", "http://[::2]:7777/cb"])(
    "rfc8252#8.3 differs in nothing but the port: %s",
    async (redirect_uri) => {
      await expectPage(await fixture.browser().authorize({ client_id: "native", redirect_uri }));
    },
  );
});

describe("bar#AS-6 a request at /token that is refused", () => {
  it("rfc6749#3.2 has a parameter twice: the answer names the flow of the one code", async () => {
    const code = await fixture.codeOf();
    const sent = new URLSearchParams({ grant_type: "authorization_code", client_id: "desk", code });
    for (const [name, flowId] of [
      ["client_id", code.split(".")[0]],
      ["code", undefined],
    ] as const) {
      const body = new URLSearchParams([...sent, [name, sent.get(name) ?? ""]]);
      const answer = await fixture.request("/token", { method: "POST", body });
      expect(answer.status).toBe(400);
      const { error, flow_id: named } = (await answer.json()) as Readonly<Record<string, unknown>>;
      expect([error, named]).toEqual(["invalid_request", flowId]);
    }
    expect((await fixture.redeem(code, { resource: `${SERVER}/mcp` })).status).toBe(200);
  });

  it.each([
    ["nothing", undefined],
    ["one that was never issued", `${"A".repeat(22)}.${"A".repeat(43)}`],
    ["the vendor's kind", "abc"],
  ])("has a code that is %s", async (_what, code) => {
    expect((await fixture.redeem(code)).status).toBe(400);
  });
});

it("bar#AS-1 a client the operator took away in the middle gets neither code nor error", async () => {
  const { table, settings } = fixture;
  const same = { records: () => table, vendor: settings.vendor.vendor };
  await using narrow = await openStubServerFixture({ ...same, callback: { clients: [OTHER] } });
  await using moved = await openStubServerFixture({
    ...same,
    callback: { clients: [{ clientId: "desk", clientName: "Desk", redirectUris: ["https://desk.example/new"] }] },
  });
  const browser = fixture.browser();
  const callback = await browser.consent(await browser.approve());
  const path = callback.pathname + callback.search;
  const cookie = browser.jar.header(callback) ?? "";
  for (const later of [narrow, moved]) await expectPage(await later.request(path, { headers: { cookie } }));
  expect((await browser.finish(callback)).searchParams.has("code")).toBe(true);
});

it("pending records reveal neither state, cookie, code nor the vendor's code", async () => {
  const kept: string[] = [];
  await using watched = await openStubServerFixture({
    records: () => watchWrites(fixture.table, (...written) => kept.push(JSON.stringify(written))),
  });
  const browser = watched.browser();
  const vendor = await browser.approve();
  const callback = await browser.consent(vendor);
  const cookies = browser.jar.header(new URL(SERVER)) ?? "";
  const back = await browser.finish(callback);
  const { status, body } = await watched.redeem(back.searchParams.get("code"));
  expect(status).toBe(200);
  expect(kept.join("").length).toBeGreaterThan(1000);
  const secrets = [
    callback.searchParams.get("state"),
    callback.searchParams.get("code"),
    back.searchParams.get("code"),
    body["access_token"],
    body["refresh_token"],
    VERIFIER,
    vendor.searchParams.get("code_challenge"),
    ...cookies.split("; ").map((pair) => pair.split("=")[1]),
  ];
  for (const secret of secrets) expect(kept.join("")).not.toContain(secret);
});
