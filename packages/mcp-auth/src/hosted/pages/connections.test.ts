/** `/connections`: what a user sees and changes, and what becomes of the tokens of each change. */
import { OAuthError } from "@oauth-broker/oauth-core";
import { createCookieJar } from "@oauth-broker/simulators";
import { ofEachTest } from "@oauth-broker/oauth-core/testing";
import { beforeEach, describe, expect, it } from "vitest";
import { refuseTokens, SERVER } from "../../testing/hosted-fixture.ts";
import { type Call, type LinkingVisitor, asksToSignIn, openLinkingFixture } from "../../testing/linking/fixture.ts";
import { pathOf, scopeOf, sectionOf, usableLink } from "../../testing/linking/linked-chat.ts";
import { expectPage } from "../../testing/server-fixture.ts";
import { atVendor, endLink } from "../links/link.ts";
import { PENDING_SECONDS } from "./pending-tokens.ts";

let call: Call;
let visitor: LinkingVisitor;
/** Awaited between the vendor's answer to a refresh and its commit. */
let beforeCommit: () => Promise<void>;
/** The vendor's answer to a revocation, instead of its own. */
let revocation: OAuthError | undefined;
/** Of the refresh token that comes with a link. */
let refreshExpiresInSeconds: number | undefined;
const fixture = ofEachTest(() =>
  openLinkingFixture({
    vendorClient: (real) => ({
      ...real,
      redeemCode: async (...args) => ({
        ...(await real.redeemCode(...args)),
        ...(refreshExpiresInSeconds === undefined ? {} : { refreshExpiresInSeconds }),
      }),
      refreshTokens: async (...args) => {
        const tokens = await real.refreshTokens(...args);
        await beforeCommit();
        return tokens;
      },
      revokeGrant: async (...args) => {
        if (revocation !== undefined) throw revocation;
        return real.revokeGrant(...args);
      },
    }),
  }),
);
beforeEach(async () => {
  beforeCommit = async () => undefined;
  revocation = undefined;
  refreshExpiresInSeconds = undefined;
  call = await fixture.call();
  visitor = await fixture.signedIn();
});

const CHAT = { vendor: "chat" };
const link = async (scopes?: readonly string[]) => visitor.link(await call.ask("chat", scopes));

describe("the page", () => {
  it("lists each vendor with account, scopes, day and state, after a sign-in", async () => {
    visitor = fixture.visitor();
    const before = await visitor.open("/connections");
    expect([before.status, pathOf(before)]).toEqual([200, "/connections"]);
    expect(sectionOf(before.html, "Chat Vendor")).toContain("Not connected");
    await link();
    const { html, headers } = await visitor.open("/connections");
    const chat = sectionOf(html, "Chat Vendor");
    for (const text of [
      "Connected",
      "user",
      "api:read",
      new Date(fixture.now() * 1000).toISOString().slice(0, 10),
      "Disconnect",
    ]) {
      expect(chat).toContain(text);
    }
    expect(html.indexOf("Sample user")).toBeLessThan(html.indexOf("<form"));
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(sectionOf(html, "Home Vendor")).toContain("Not connected");
  });

  it("says when the user will be asked again, if the lifetime of the refresh token is known", async () => {
    refreshExpiresInSeconds = 60 * 86_400;
    await link();
    const { html } = await visitor.open("/connections");
    const day = new Date((fixture.now() + refreshExpiresInSeconds) * 1000).toISOString().slice(0, 10);
    expect(sectionOf(html, "Chat Vendor")).toContain(`You will be asked to connect again about ${day}.`);
    refreshExpiresInSeconds = undefined;
    await visitor.press(await visitor.open("/connections"), "reconnect");
    expect((await visitor.open("/connections")).html).not.toContain("asked to connect again");
  });

  it("never redirects to a client, and shows unknown results as none", async () => {
    await visitor.open("/connections");
    const plain = await visitor.open("/connections");
    const twice = ["error=other_account&error=other_account", "error=a&error=b", "linked=chat&linked=home"];
    for (const query of [
      ...twice,
      "error=evil",
      "linked=evil",
      "error=<script>",
      "redirect_uri=https://evil.example",
      "error=%E0%A4%A",
    ]) {
      const { status, html } = await visitor.open(`/connections?${query}`);
      expect(status).toBe(200);
      expect(html).toBe(plain.html);
    }
    expect((await visitor.open("/connections?error=other_account")).html).toContain("another account");
  });

  it("says where a sign-in leads, and why, before the browser leaves; and so after a sign-out", async () => {
    const fresh = fixture.visitor();
    const first = await fresh.get("/connections");
    const html = await first.text();
    expect([first.status, fixture.home.requests()]).toEqual([200, []]);
    expect(html).toContain("<h1>Sign in to see your connections at server.example</h1>");
    expect(html).toContain("You sign in at <strong>Home Vendor</strong>");
    expect(html).toContain(">Continue to Home Vendor</button>");
    expect(html).not.toMatch(/<a |Sample user|Chat Vendor/);
    const out = await fresh.press(await fresh.open("/connections"), "sign_out");
    expect(out.html).toContain("You are signed out in this browser.");
    expect((await fresh.press(out, "sign_in")).html).toContain("Sample user");
  });

  it("signs out: the cookie ends here and on the server, and the links stay", async () => {
    const page = await link();
    const cookie = visitor.jar.header(new URL(SERVER)) ?? "";
    const { html, url } = await visitor.press(page, "sign_out");
    expect(url.search).toBe("?signed_out=true");
    expect(html).toContain("You are signed out");
    expect(visitor.jar.get(new URL(SERVER), "__Host-sign-in")).toBeUndefined();
    expect(await asksToSignIn(await fixture.request("/connections", { headers: { cookie } }))).toBe(true);
    expect(await call.links.read("chat")).toMatchObject({ state: "usable" });
  });

  it("does not change anything by GET or HEAD, without csrf, or with another form's", async () => {
    const { html } = await link();
    const csrfs = [...html.matchAll(/name="csrf" value="([^"]+)"/g)].map(([, value]) => value);
    const ofChat = /name="csrf" value="([^"]+)"/.exec(sectionOf(html, "Chat Vendor"))?.[1];
    await visitor.open("/connections?vendor=chat&action=disconnect");
    for (const csrf of [undefined, "", "x", ...csrfs.filter((value) => value !== ofChat)]) {
      await expectPage(await visitor.post("/connections", { ...CHAT, action: "disconnect", csrf }));
    }
    await expectPage(await visitor.post("/connections", { ...CHAT, action: "burn", csrf: ofChat }));
    await expectPage(await visitor.post("/connections", { vendor: "evil", action: "disconnect", csrf: ofChat }));
    await expectPage(await visitor.post("/connections", { csrf: ofChat }));
    const refused = await (await visitor.post("/connections", { ...CHAT, action: "disconnect" })).text();
    expect(refused).toContain("<h1>This could not be done</h1>");
    expect(refused).toContain('<a class="button" href="/connections">Your connections</a>');
    expect(refused).not.toMatch(/sign-in|application/);
    expect(await call.links.read("chat")).toMatchObject({ state: "usable" });
  });
});

describe("a user's own connect", () => {
  it("asks for all of the vendor's scopes, and a reconnect for what the link has and was refused", async () => {
    const page = await visitor.open("/connections");
    const first = await visitor.send(page, "connect", "chat");
    const asked = (answer: Response) => new URL(answer.headers.get("location") ?? "").searchParams.get("scope");
    expect([first.status, asked(first)]).toEqual([303, "openid profile api:read api:write"]);
    const linked = await link();
    expect(asked(await visitor.send(linked, "reconnect", "chat"))).toBe("openid api:read");
    await visitor.press(linked, "reconnect", CHAT);
    expect(await scopeOf(call)).toEqual(["api:read", "openid"]);
  });

  it("heals a dead link in place, without a question, and the session never ended", async () => {
    await link();
    const read = await usableLink(call);
    refuseTokens(fixture.chat);
    expect(await read.refused(await read.vendorToken())).toBeUndefined();
    expect(await call.links.read("chat")).toMatchObject({ state: "dead", scope: ["api:read", "openid"] });
    expect(await fixture.authenticate(call.access)).toBeDefined();
    const page = await visitor.open("/connections");
    expect(sectionOf(page.html, "Chat Vendor")).toContain("Ended by the vendor");
    expect(pathOf(await visitor.press(page, "reconnect", CHAT))).toBe("/connections?linked=chat");
    expect(await call.links.read("chat")).toMatchObject({ state: "usable" });
  });

  it("at the sign-in vendor links the signed-in account alone: another one's tokens are revoked", async () => {
    const page = await visitor.open("/connections");
    const answer = await visitor.send(page, "connect", "home");
    const back = await visitor.atVendor(answer, { account: "operator", cookieJar: createCookieJar() });
    const before = fixture.revocations("home");
    const shown = await visitor.open(back);
    expect(pathOf(shown)).toBe("/connections?error=other_account");
    expect([await fixture.linked("home"), await fixture.linked("home", "operator")]).toEqual([undefined, undefined]);
    expect(fixture.revocations("home")).toBe(before + 1);
    const own = await visitor.press(shown, "connect", { vendor: "home" });
    expect(pathOf(own)).toBe("/connections?linked=home");
    expect(await fixture.linked("home")).toBeDefined();
  });
});

describe("bar#LK-9 a disconnect", () => {
  it("ends the link here and at the vendor, and the session lives on", async () => {
    const page = await link();
    const shown = await visitor.press(page, "disconnect", CHAT);
    expect(shown.url.pathname).toBe("/connections");
    expect(sectionOf(shown.html, "Chat Vendor")).toContain("Not connected");
    expect(fixture.revocations("chat")).toBe(1);
    expect(await call.links.read("chat")).toEqual({ state: "missing" });
    expect(await fixture.authenticate(call.access)).toBeDefined();
  });

  it("asks first: the page explains, then has the button, without a script (#29)", async () => {
    const chat = sectionOf((await link()).html, "Chat Vendor");
    const [outside, asked] = [chat.replace(/<details[^]*<\/details>/, ""), /<details[^]*<\/details>/.exec(chat)?.[0]];
    expect(outside).not.toContain('value="disconnect"');
    expect(asked).toMatch(/^<details><summary>Disconnect Chat Vendor<\/summary>/);
    expect(asked).toMatch(
      /until you connect it again[^]*name="csrf"[^]*value="disconnect">Yes, disconnect Chat Vendor</,
    );
  });

  it.each([
    ["revoked them", "", undefined],
    ["has no way to revoke them from here", "remove this one", new OAuthError("unsupported_token_type", "no way")],
    ["did not revoke them", "remove this one", new OAuthError("temporarily_unavailable", "down")],
  ])("says what it did: %s (#29)", async (said, byHand, failure) => {
    revocation = failure;
    const shown = await visitor.press(await link(), "disconnect", CHAT);
    expect(shown.html).toContain("Chat Vendor is disconnected. Its tokens are deleted here");
    expect(shown.html).toContain(said);
    expect(shown.html).toContain(byHand);
    expect(shown.html.includes("To end what may be left")).toBe(byHand !== "");
    expect(await call.links.read("chat")).toEqual({ state: "missing" });
    // Not by a link of another user's, for another vendor, or once the account is connected again.
    const { pathname, search } = shown.url;
    for (const [from, to] of [
      [/proof=[^&]*/, "proof=0.x"],
      [/at_vendor=\w+/, "at_vendor=already"],
      ["disconnected=chat", "disconnected=home"],
      [/&proof=.*/, ""],
    ] as const) {
      const changed = search.replace(from, to);
      expect(changed).not.toBe(search);
      expect((await visitor.open(pathname + changed)).html).not.toContain("is disconnected");
    }
    await link();
    expect((await visitor.open(pathname + search)).html).not.toContain("is disconnected");
  });

  it("says of what cannot be read that the vendor was not asked (#29)", async () => {
    await link();
    await fixture.rows.change({ pk: "USER#user", sk: "VENDOR#chat" }, { set: { data_key: "half a row" } }, {});
    const page = await visitor.open("/connections");
    expect(sectionOf(page.html, "Chat Vendor")).toContain("Cannot be read");
    const shown = await visitor.press(page, "disconnect", CHAT);
    expect(shown.html).toContain("Chat Vendor was not asked to revoke it");
    expect(fixture.revocations("chat")).toBe(0);
  });

  it("in a page that is older than the link changes nothing", async () => {
    const old = await link();
    await visitor.press(old, "reconnect", CHAT);
    const shown = await visitor.press(old, "disconnect", CHAT);
    expect(pathOf(shown)).toBe("/connections?error=link_changed");
    expect(await call.links.read("chat")).toMatchObject({ state: "usable" });
    expect(fixture.revocations("chat")).toBe(0);
  });

  it("while the browser is at the vendor: the callback stores nothing and revokes what it got", async () => {
    const back = await visitor.atVendor(await visitor.beginLink("chat"));
    expect(await endLink("user", atVendor("chat", fixture))).toEqual({});
    const shown = await visitor.open(back);
    expect(pathOf(shown)).toBe("/connections?error=link_changed");
    expect(shown.html).toContain("This connection has changed");
    expect(await fixture.linked("chat")).toBeUndefined();
    expect(fixture.revocations("chat")).toBe(1);
  });

  it("while tokens are refreshed: they are not stored, and revoked", async () => {
    const page = await link();
    const read = await usableLink(call);
    const held = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    beforeCommit = async () => {
      answered.resolve();
      await held.promise;
    };
    const refused = read.refused(await read.vendorToken());
    await answered.promise;
    await visitor.press(page, "disconnect", CHAT);
    held.resolve();
    expect(await refused).toBeUndefined();
    expect(await fixture.linked("chat")).toBeUndefined();
    await expect.poll(() => fixture.revocations("chat")).toBe(2);
    expect(await call.links.read("chat")).toEqual({ state: "missing" });
  });
});

describe("another account than the linked one", () => {
  /** A second browser of the same user, who chooses another account at the vendor. */
  const bringAnother = async () => {
    await link();
    const second = await fixture.signedIn();
    const ticket = await call.ask("chat", ["openid", "api:read"]);
    const shown = await second.link(ticket, { account: "operator" });
    return { second, shown, ticket, first: await fixture.linked("chat") };
  };

  it("waits for a yes in its browser, then replaces the link and revokes the old tokens", async () => {
    const { second, shown, ticket, first } = await bringAnother();
    expect(pathOf(shown)).toBe("/connections");
    expect(sectionOf(shown.html, "Chat Vendor")).toMatch(
      /This replaces <strong>.*user.*<\/strong> with <strong>.*operator/,
    );
    expect([await fixture.linked("chat"), fixture.revocations("chat")]).toEqual([first, 0]);
    expect(await call.links.ticketState(ticket.id)).toBe("approved");
    const elsewhere = await visitor.open("/connections");
    expect(elsewhere.html).not.toContain("This replaces");
    const done = await second.press(shown, "replace", CHAT);
    expect(pathOf(done)).toBe("/connections?linked=chat");
    expect(await fixture.linked("chat")).not.toBe(first);
    expect(fixture.revocations("chat")).toBe(1);
    expect(await call.links.ticketState(ticket.id)).toBe("linked");
  });

  it("is dropped and revoked by a no, and the link stays", async () => {
    const { second, shown, ticket, first } = await bringAnother();
    await second.press(shown, "keep", CHAT);
    expect([await fixture.linked("chat"), fixture.revocations("chat")]).toEqual([first, 1]);
    expect(await call.links.ticketState(ticket.id)).toBe("denied");
    expect(pathOf(await second.press(shown, "replace", CHAT))).toBe("/connections?error=link_changed");
    expect(await fixture.linked("chat")).toBe(first);
  });

  it("is answered once, of any number of tries", async () => {
    const { second, shown } = await bringAnother();
    const tries = await Promise.all(["replace", "keep", "replace"].map((answer) => second.send(shown, answer, "chat")));
    const errors = tries.map((answer) => answer.headers.get("location")).filter((to) => to?.includes("link_changed"));
    expect(errors).toHaveLength(2);
  });

  it("is swept after five minutes, by any process: revoked, and no longer there to be answered", async () => {
    const { second, shown, first, ticket } = await bringAnother();
    // The clock goes on in the meantime.
    fixture.clock.advance(PENDING_SECONDS - 60);
    await fixture.sweep();
    expect(fixture.revocations("chat")).toBe(0);
    fixture.clock.advance(60);
    expect((await second.open("/connections")).html).not.toContain("This replaces");
    await fixture.sweep();
    await fixture.sweep();
    expect(fixture.revocations("chat")).toBe(1);
    expect(pathOf(await second.press(shown, "replace", CHAT))).toBe("/connections?error=link_changed");
    expect(await fixture.linked("chat")).toBe(first);
    expect(await call.links.ticketState(ticket.id)).toBe("gone");
  });

  it("is not stored over a link that changed meanwhile", async () => {
    const { second, shown } = await bringAnother();
    await visitor.press(await visitor.open("/connections"), "disconnect", CHAT);
    expect(pathOf(await second.press(shown, "replace", CHAT))).toBe("/connections?error=link_changed");
    expect(await fixture.linked("chat")).toBeUndefined();
    expect(fixture.revocations("chat")).toBe(2);
  });

  it("waits sealed: no row has its tokens, and another browser of the user cannot answer", async () => {
    const { shown } = await bringAnother();
    const csrf = /name="csrf" value="([^"]+)"/.exec(shown.html.split("This replaces")[1] ?? "")?.[1];
    const answer = await visitor.post("/connections", { ...CHAT, action: "replace", csrf });
    expect(answer.headers.get("location")).toBe("/connections?error=link_changed");
  });
});
