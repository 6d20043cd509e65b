/** A user's links beside the pages: ended by the operator, made under another sign-in, from before. */
import type { StoredTokens, TokenKey } from "@oauth-broker/token-store";
import { Secret } from "@oauth-broker/oauth-core";
import { ofEachTest } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { asksToSignIn, openLinkingFixture } from "../../testing/linking/fixture.ts";
import { atVendor, endLink, linkKey } from "../links/link.ts";

const fixture = ofEachTest(openLinkingFixture);
const call = ofEachTest(() => fixture.call());

const keyAt = (vendor: "home" | "chat"): TokenKey => linkKey("user", atVendor(vendor, fixture));
const linkBoth = async () => {
  const visitor = await fixture.signedIn();
  await visitor.link(await call.ask("chat", ["openid"]));
  await visitor.press(await visitor.open("/connections"), "connect", { vendor: "home" });
  return visitor;
};
const end = (vendor: "home" | "chat") => endLink("user", atVendor(vendor, fixture));

describe("the operator's end of a user", () => {
  it("ends every link here and at its vendor; sessions, tickets and cookies are ended beside it", async () => {
    const visitor = await linkBoth();
    const ticket = await call.ask("chat", ["openid", "api:read"]);
    expect([await end("chat"), await end("home")]).toEqual([{ vendor: "token" }, { vendor: "token" }]);
    expect([await fixture.linked("chat"), await fixture.linked("home")]).toEqual([undefined, undefined]);
    await fixture.sessions.endAll("user");
    await fixture.deps.signIns.endAll("user");
    expect(await asksToSignIn(await visitor.get("/connections"))).toBe(true);
    expect(await call.links.ticketState(ticket.id)).toBe("gone");
    expect([await end("chat"), await end("home")]).toEqual([{}, {}]);
    // In the same second too.
    expect((await fixture.visitor().open("/connections")).status).toBe(200);
  });

  it("of one link leaves the others, the sessions and the cookies", async () => {
    const visitor = await linkBoth();
    expect([await end("chat"), await end("chat")]).toEqual([{ vendor: "token" }, {}]);
    expect(await fixture.linked("home")).toBeDefined();
    expect(await asksToSignIn(await visitor.get("/connections"))).toBe(false);
    expect(await call.links.read("chat")).toEqual({ state: "missing" });
    expect(() => atVendor("unlisted", fixture)).toThrow(TypeError);
  });

  it("ends the sign-ins of that user alone", async () => {
    const [one, other] = [fixture.visitor(), fixture.visitor()];
    await one.open("/connections");
    await other.open("/connections", { account: "operator" });
    await fixture.deps.signIns.endAll("user");
    await fixture.deps.signIns.endAll("user");
    expect(await asksToSignIn(await one.get("/connections"))).toBe(true);
    expect(await asksToSignIn(await other.get("/connections"))).toBe(false);
  });
});

describe("a call over a link that is another account's meanwhile", () => {
  it("bar#LK-10 gets no token of that account", async () => {
    await linkBoth();
    const read = await call.links.read("chat");
    if (read.state !== "usable") throw new Error("there is no link");
    const { stored, linkVersion } = await fixture.tokens.readLink(keyAt("chat"));
    const before = typeof stored === "object" ? stored.tokens : undefined;
    if (before?.link === undefined) throw new Error("there is no link");
    const relink = (account: string, version: number) => {
      const link = { ...before.link, linkedAt: 0, notGranted: [], lacked: {}, account };
      return fixture.tokens.link(keyAt("chat"), { ...before, accessToken: new Secret(`of ${account}`), link }, version);
    };
    await relink(before.link.account ?? "", linkVersion);
    fixture.clock.advance(6);
    expect((await read.vendorToken()).accessToken.reveal()).toBe(`of ${before.link.account}`);
    await relink("another", linkVersion + 1);
    await expect(read.vendorToken()).rejects.toMatchObject({
      code: "temporarily_unavailable",
      description: "The user's link has changed: call again",
    });
  });
});

describe("a link made under another sign-in", () => {
  const theirs = (): TokenKey => ({ ...keyAt("chat"), signIn: { vendor: "home", issuer: "https://another.example" } });
  const put = (key: TokenKey, name: string): Promise<StoredTokens> =>
    fixture.tokens.put(key, { accessToken: new Secret(name), tokenType: "Bearer" });

  it("is no link here: shown as not connected, and revoked before it is replaced", async () => {
    await put(theirs(), "theirs");
    expect(await call.links.read("chat")).toEqual({ state: "missing" });
    const visitor = await fixture.signedIn();
    expect((await visitor.open("/connections")).html).not.toContain("Reconnect Chat Vendor");
    const { url } = await visitor.link(await call.ask("chat", ["openid"]));
    expect(url.search).toBe("?linked=chat");
    expect(fixture.revocations("chat")).toBe(1);
    expect(fixture.chat.requests().at(-1)?.body["token"]).toBe("theirs");
    expect(await fixture.tokens.get(theirs())).toBeUndefined();
    expect(await call.links.read("chat")).toMatchObject({ state: "usable" });
  });

  it("is not ended together with the user's own", async () => {
    await put(theirs(), "theirs");
    expect(await end("chat")).toEqual({});
    expect(await fixture.tokens.get(theirs())).toBeDefined();
  });

  it("bar#LK-6 does not survive a change of the sign-in vendor", async () => {
    await linkBoth();
    await using after = fixture.again({ signIn: "chat" });
    const { links } = await after.call("user");
    expect([await links.read("home"), await links.read("chat")]).toEqual([{ state: "missing" }, { state: "missing" }]);
    const before = fixture.revocations("chat");
    expect((await after.connect({ scope: "chat:openid" })).status).toBe(200);
    expect(fixture.revocations("chat")).toBe(before + 1);
    expect(await links.read("chat")).toMatchObject({ state: "usable", scope: ["openid"] });
    expect(await call.links.read("chat")).toEqual({ state: "missing" });
  });
});

describe("a link from before there were several vendors", () => {
  it("is the sign-in vendor's own, keeps working, and takes the new form with its next tokens", async () => {
    const { signIn: _, ...before } = keyAt("home");
    await fixture.tokens.put(before, { accessToken: new Secret("old"), tokenType: "Bearer", scope: "openid api:read" });
    const read = await call.links.read("home");
    expect(read).toMatchObject({ state: "usable", scope: ["openid", "api:read"], notGranted: [] });
    const visitor = await fixture.signedIn();
    const page = await visitor.open("/connections");
    const { url } = await visitor.press(page, "reconnect", { vendor: "home" });
    expect(url.search).toBe("?linked=home");
    expect(await fixture.tokens.get(keyAt("home"))).toMatchObject({ tokens: { link: { account: "user" } } });
  });

  it("of another vendor counts for no user who signs in elsewhere", async () => {
    const { signIn: _, ...before } = keyAt("chat");
    await fixture.tokens.put(before, { accessToken: new Secret("old"), tokenType: "Bearer" });
    expect(await call.links.read("chat")).toEqual({ state: "missing" });
  });
});

describe("the MCP sign-in", () => {
  it("links the sign-in vendor with the account's label; the pages' sign-in does not", async () => {
    const { body } = await fixture.connect({ scope: "home:openid home:profile chat:openid" });
    const links = (await fixture.authenticate(body["access_token"] ?? ""))?.links;
    expect(await links?.read("home")).toMatchObject({ state: "usable", scope: ["openid", "profile"] });
    expect(await links?.read("chat")).toEqual({ state: "missing" });
    expect((await fixture.tokens.get(keyAt("home")))?.tokens.link?.label?.reveal()).toBe("Sample user");
  });
});

it("an outage of the store is a 503 of the call, and of the pages, and no missing link", async () => {
  const visitor = await fixture.signedIn();
  fixture.down.add("tokens");
  await expect(call.links.read("chat")).rejects.toMatchObject({ code: "temporarily_unavailable" });
  expect((await visitor.get("/connections")).status).toBe(503);
  fixture.down.add("records");
  await expect(call.ask()).rejects.toMatchObject({ code: "temporarily_unavailable" });
  fixture.down.clear();
});
