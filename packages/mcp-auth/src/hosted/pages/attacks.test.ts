/** What attackers try at the pages of links and their flows. The twins are in pages.twin.test.ts. */
import { createCookieJar } from "@oauth-broker/simulators";
import { ofEachTest } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { SERVER } from "../../testing/hosted-fixture.ts";
import { asksToSignIn, type LinkingFixture, openLinkingFixture } from "../../testing/linking/fixture.ts";
import { overwriteRow } from "../../testing/record-stores.ts";
import { expectPage, location } from "../../testing/server-fixture.ts";

const fixture = ofEachTest(openLinkingFixture);

const HERE = new URL(SERVER);
const pathOf = ({ url }: { readonly url: string }): string => url.slice(SERVER.length);
const OPERATOR = { account: "operator" } as const;

it("bar#ST-8 a page that sends a browser here again and again does not fill its cookies", async () => {
  const visitor = fixture.visitor();
  for (let visit = 0; visit < 40; visit += 1) {
    expect(await asksToSignIn(await visitor.get("/connections"))).toBe(true);
    expect((await visitor.get("/connect/x")).status).toBe(303);
  }
  expect((visitor.jar.header(HERE) ?? "").length).toBeLessThan(2_048);
  // And the newest flow goes on.
  expect((await visitor.open("/connections")).html).toContain("Sample user");
});

describe("bar#CB-7 bar#LK-1 the URL of a ticket", () => {
  it("of a victim opens nothing for a malicious client's own user", async () => {
    const victim = await fixture.call("user");
    const ticket = await victim.ask();
    const attacker = fixture.visitor();
    const { status, html } = await attacker.open(pathOf(ticket), OPERATOR);
    expect(status).toBe(403);
    expect(html).toContain("Sample operator");
    for (const text of ["Desk", "Chat Vendor", "api:read", "Sample user"]) expect(html).not.toContain(text);
    const own = await attacker.open(pathOf(await (await fixture.call("operator")).ask()), OPERATOR);
    const csrf = /name="csrf" value="([^"]+)"/.exec(own.html)?.[1];
    const answer = await attacker.post(pathOf(ticket), { csrf, decision: "approve" });
    await expectPage(answer, 403);
    expect(await victim.links.ticketState(ticket.id)).toBe("open");
  });

  it("of the attacker, sent to a victim, links nothing of the victim's to the attacker", async () => {
    const attacker = await fixture.call("operator");
    const ticket = await attacker.ask();
    const victim = fixture.visitor();
    const shown = await victim.open(pathOf(ticket));
    expect(shown.status).toBe(403);
    expect(shown.html).not.toContain("approve");
    expect(await fixture.linked("chat", "operator")).toBeUndefined();
  });

  it("goes on with another account: the cookie ends, and the vendor is to ask which", async () => {
    const ticket = await (await fixture.call("operator")).ask();
    const visitor = fixture.visitor();
    const shown = await visitor.open(pathOf(ticket));
    const cookie = visitor.jar.header(HERE) ?? "";
    const answer = await visitor.send(shown, "sign_out");
    const vendor = location(answer);
    expect([answer.status, vendor.origin, vendor.searchParams.get("prompt")]).toEqual([
      303,
      fixture.home.issuer,
      "login",
    ]);
    expect(await asksToSignIn(await fixture.request("/connections", { headers: { cookie } }))).toBe(true);
    const back = await visitor.atVendor(answer, OPERATOR);
    expect(await visitor.open(back)).toMatchObject({
      status: 200,
      url: { pathname: pathOf(ticket) },
    });
  });
});

describe("bar#AS-8 bar#LK-2 a flow of one browser", () => {
  it.each(["", ", with the flow's cookie planted there"])(
    "is not finished in another%s: a link the attacker began does not get the victim's account",
    async (planted) => {
      const attacker = fixture.visitor();
      const begun = await attacker.beginLink("chat", OPERATOR);
      const victim = fixture.visitor();
      await victim.open("/connections");
      const back = await victim.atVendor(begun);
      if (planted !== "") victim.jar.store(HERE, begun.headers.getSetCookie());
      await expectPage(await victim.get(back));
      expect(await fixture.linked("chat", "operator")).toBeUndefined();
      expect(await fixture.linked("chat", "user")).toBeUndefined();
      expect(fixture.chat.requests().filter(({ path }) => path === "/token")).toEqual([]);
    },
  );

  it("of a user who signed out at our pages meanwhile stores nothing", async () => {
    const visitor = fixture.visitor();
    const page = await visitor.open("/connections");
    const back = await visitor.atVendor(await visitor.send(page, "connect", "chat"));
    await visitor.press(page, "sign_out");
    await expectPage(await visitor.get(back));
    expect(await fixture.linked("chat")).toBeUndefined();
  });
});

describe("bar#AS-7 the page that asks to sign in", () => {
  const post = (visitor: ReturnType<LinkingFixture["visitor"]>, fields: Record<string, string | undefined>) =>
    visitor.post("/connections", { action: "sign_in", ...fields });
  const csrfOf = async (visitor: ReturnType<LinkingFixture["visitor"]>): Promise<string | undefined> =>
    /name="csrf" value="([^"]+)"/.exec(await (await visitor.get("/connections")).text())?.[1];

  it("starts nothing at the vendor for a form of another browser, or without one", async () => {
    const attacker = fixture.visitor();
    const csrf = await csrfOf(attacker);
    const victim = fixture.visitor();
    for (const [what, answer] of [
      ["no page shown", await post(victim, { csrf })],
      ["another browser's", (await csrfOf(victim), await post(victim, { csrf }))],
      ["none", await post(victim, {})],
    ] as const)
      expect([answer.status, answer.headers.get("location")], what).toEqual([303, "/connections"]);
    expect(location(await post(attacker, { csrf })).origin).toBe(fixture.home.issuer);
  });

  it("starts nothing for a form that another site posts", async () => {
    const visitor = fixture.visitor();
    const csrf = await csrfOf(visitor);
    const crossSite = { "sec-fetch-site": "cross-site" };
    const answer = await visitor.post("/connections", { action: "sign_in", csrf }, crossSite);
    await expectPage(answer, 403);
  });

  it("is no step for a browser that is signed in, in another tab", async () => {
    const visitor = fixture.visitor();
    const csrf = await csrfOf(visitor);
    await visitor.open("/connections");
    expect((await post(visitor, { csrf })).headers.get("location")).toBe("/connections");
  });
});

describe("bar#LK-5 the sign-in cookie", () => {
  it("login CSRF: an attacker's finished sign-in is no sign-in in the victim's browser", async () => {
    const attacker = fixture.visitor();
    const back = await attacker.atVendor(await attacker.beginSignIn(), OPERATOR);
    const victim = fixture.visitor();
    const answer = await victim.get(back);
    await expectPage(answer);
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect(victim.jar.get(HERE, "__Host-sign-in")).toBeUndefined();
  });

  it("session fixation: a value the attacker planted is not the victim's after the sign-in", async () => {
    const planted = "A".repeat(43);
    const victim = fixture.visitor();
    victim.jar.store(HERE, [`__Host-sign-in=${planted}; Path=/; Secure`]);
    const shown = await victim.open("/connections");
    expect(shown.status).toBe(200);
    expect(victim.jar.get(HERE, "__Host-sign-in")).not.toBe(planted);
    const answer = await fixture.request("/connections", { headers: { cookie: `__Host-sign-in=${planted}` } });
    expect(await asksToSignIn(answer)).toBe(true);
  });

  it("is fresh at every sign-in, which ends the one before; HttpOnly, Lax, Secure, for 12 hours", async () => {
    const visitor = fixture.visitor();
    const [one, two] = [await visitor.beginSignIn(), await visitor.beginSignIn()];
    const first = await visitor.atVendor(one);
    const second = await visitor.atVendor(two);
    const answer = await visitor.get(first);
    const set = answer.headers.getSetCookie().find((cookie) => cookie.startsWith("__Host-sign-in="));
    expect(set).toMatch(/^__Host-sign-in=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax; Secure$/);
    const before = visitor.jar.header(HERE) ?? "";
    await visitor.get(second);
    expect(await asksToSignIn(await fixture.request("/connections", { headers: { cookie: before } }))).toBe(true);
    expect(await asksToSignIn(await visitor.get("/connections"))).toBe(false);
    fixture.clock.advance(12 * 3600);
    expect(await asksToSignIn(await visitor.get("/connections"))).toBe(true);
  });

  it("is none at /mcp and /token, and of another server or sign-in vendor none here", async () => {
    const visitor = fixture.visitor();
    await visitor.open("/connections");
    const value = visitor.jar.get(HERE, "__Host-sign-in") ?? "";
    expect(await fixture.authenticate(value)).toBeUndefined();
    const cookie = `__Host-sign-in=${value}`;
    const other = fixture.again({ signIn: "chat" });
    expect(await asksToSignIn(await other.request("/connections", { headers: { cookie } }))).toBe(true);
    await other.close();
    for (const wrong of [`__Host-other=${value}`, `sign-in=${value}`, `__Host-sign-in=${value}x`, "__Host-sign-in="]) {
      expect(await asksToSignIn(await fixture.request("/connections", { headers: { cookie: wrong } }))).toBe(true);
    }
  });

  it("has a name of its own on loopback, where all ports share cookies", async () => {
    await using loopback = fixture.again({ settings: { deploymentUrl: "http://127.0.0.1:8080" } });
    const set = await loopback.deps.signIns.start("user", "Ada");
    expect(set).toMatch(/^sign-in-[\w-]{43}=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax$/);
  });

  it("stores no token of the pages' sign-in, and revokes none", async () => {
    await fixture.visitor().open("/connections");
    expect(await fixture.linked("home")).toBeUndefined();
    expect(fixture.revocations("home")).toBe(0);
  });
});

describe("bar#XA-1 bar#LK-3 a mix-up between two linked vendors", () => {
  it("one vendor's redirect at the other's path is refused, and ends nothing", async () => {
    const visitor = fixture.visitor();
    const page = await visitor.open("/connections");
    const chat = await visitor.atVendor(await visitor.send(page, "connect", "chat"));
    const home = await visitor.atVendor(await visitor.send(page, "connect", "home"));
    expect([chat.pathname, home.pathname]).toEqual(["/vendors/chat/callback", "/callback"]);
    expect(await expectPage(await visitor.get(home.pathname + chat.search))).toContain("path_mismatch");
    expect(await expectPage(await visitor.get(chat.pathname + home.search))).toContain("path_mismatch");
    expect((await visitor.get(chat)).headers.get("location")).toBe("/connections?linked=chat");
    expect((await visitor.get(home)).headers.get("location")).toBe("/connections?linked=home");
  });

  it("the state of one with the code and iss of the other ends the flow", async () => {
    const visitor = fixture.visitor();
    const page = await visitor.open("/connections");
    const chat = await visitor.atVendor(await visitor.send(page, "connect", "chat"));
    const home = await visitor.atVendor(await visitor.send(page, "connect", "home"));
    const mixed = new URLSearchParams(home.search);
    mixed.set("state", chat.searchParams.get("state") ?? "");
    expect(await expectPage(await visitor.get(`${chat.pathname}?${mixed.toString()}`))).toContain("issuer_mismatch");
    await expectPage(await visitor.get(chat));
    expect(await fixture.linked("chat")).toBeUndefined();
  });

  it("a flow of a client is none of the pages', nor the other way round", async () => {
    const browser = fixture.browser();
    const client = await browser.consent(await browser.approve());
    await expectPage(await browser.get(`/vendors/chat/callback${client.search}`));
    expect((await browser.finish(client)).searchParams.has("code")).toBe(true);
    const visitor = fixture.visitor();
    const begun = location(await visitor.beginSignIn());
    const state = begun.searchParams.get("state") ?? "";
    expect(state).toMatch(/^link-/);
    await expectPage(await visitor.get(`/callback?code=x&state=${state.replace("link-", "")}`));
    await expectPage(await visitor.get(`/callback?code=x&state=link-${client.searchParams.get("state") ?? ""}`));
  });

  it("a redirect twice, in two tabs, is taken once", async () => {
    const visitor = fixture.visitor();
    const back = await visitor.atVendor(await visitor.beginSignIn());
    const answers = await Promise.all([1, 2].map(() => visitor.get(back)));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([303, 400]);
  });
});

describe("bar#TS-3 a writer of the table", () => {
  const hashOfCookie = async (value: string): Promise<string> => {
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(value));
    return Buffer.from(digest).toString("base64url");
  };

  it("who turns a sign-in of their own into a victim's signs in nowhere", async () => {
    const attacker = fixture.visitor();
    await attacker.open("/connections", OPERATOR);
    const id = await hashOfCookie(attacker.jar.get(HERE, "__Host-sign-in") ?? "");
    await overwriteRow(fixture.table, { kind: "sign-in", id }, (data) => ({ ...data, user: "user" }));
    expect(await asksToSignIn(await attacker.get("/connections"))).toBe(true);
  });

  it("who turns a flow of their own into a victim's stores no account there", async () => {
    const attacker = fixture.visitor();
    const begun = await attacker.beginLink("chat", OPERATOR);
    const back = await attacker.atVendor(begun, { ...OPERATOR, cookieJar: createCookieJar() });
    const id = (location(begun).searchParams.get("state") ?? "").split(".")[0] ?? "";
    await overwriteRow(fixture.table, { kind: "linking", id }, (data) => ({ ...data, user: "user" }));
    await expectPage(await attacker.get(back));
    expect(await fixture.linked("chat", "user")).toBeUndefined();
  });
});

it("20 guesses of tickets and callbacks a minute are refused by address, like every page", async () => {
  await using limited = fixture.again({ settings: { limits: { ...fixture.settings.limits, requestsPerMinute: 5 } } });
  const answers = [];
  for (let count = 0; count < 7; count += 1) answers.push(await limited.request(`/connect/${"A".repeat(43)}`));
  expect(answers.map(({ status }) => status)).toEqual([303, 303, 303, 303, 303, 429, 429]);
  for (const path of ["/connections", "/vendors/chat/callback", "/callback?state=link-x"]) {
    expect((await limited.request(path)).status).toBe(429);
  }
});
