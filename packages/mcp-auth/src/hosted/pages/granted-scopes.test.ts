/** What a link may do after a flow: the scopes that the vendor granted, and those it did not. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  type Call,
  type LinkingFixture,
  type LinkingVisitor,
  openLinkingFixture,
} from "../../testing/linking/fixture.ts";
import { pathOf, scopeOf, sectionOf, usableLink } from "../../testing/linking/linked-chat.ts";

let fixture: LinkingFixture;
let call: Call;
let visitor: LinkingVisitor;
beforeEach(async () => {
  fixture = await openLinkingFixture();
  [call, visitor] = [await fixture.call(), await fixture.signedIn()];
});
afterEach(() => fixture.close());

const CHAT = { vendor: "chat" };
const link = async (scopes?: readonly string[]) => visitor.link(await call.ask("chat", scopes));

describe("scopes", () => {
  it("of a step-up of the same account replace the link, and the old token is not revoked", async () => {
    await link();
    const first = await fixture.linked("chat");
    const shown = await link(["openid", "api:read", "api:write"]);
    expect(pathOf(shown)).toBe("/connections?linked=chat");
    expect(await fixture.linked("chat")).not.toBe(first);
    expect(fixture.revocations("chat")).toBe(0);
    expect(await scopeOf(call)).toEqual(["api:read", "api:write", "openid"]);
  });

  it("fewer than the link has wait for a yes; a no keeps the link, and notes what was refused", async () => {
    await link(["openid", "api:read", "api:write"]);
    const first = await fixture.linked("chat");
    const shown = await link(["openid", "api:read"]);
    expect(sectionOf(shown.html, "Chat Vendor")).toContain(
      "Replacing the connection loses: <strong>api:write</strong>",
    );
    expect(await fixture.linked("chat")).toBe(first);
    await visitor.press(shown, "keep", CHAT);
    expect(await fixture.linked("chat")).toBe(first);
    const again = await link(["openid", "api:read"]);
    expect(pathOf(await visitor.press(again, "replace", CHAT))).toBe("/connections?linked=chat");
    expect(await scopeOf(call)).toEqual(["api:read", "openid"]);
  });

  it("that were asked and not granted are noted, until the user reconnects", async () => {
    await fixture.close();
    let refused = ["api:write"];
    fixture = await openLinkingFixture({
      vendorClient: (real) => ({
        ...real,
        redeemCode: async (...args) => {
          const { scope = [], ...tokens } = await real.redeemCode(...args);
          return { ...tokens, scope: scope.filter((token) => !refused.includes(token)) };
        },
      }),
    });
    [call, visitor] = [await fixture.call(), await fixture.signedIn()];
    await link(["openid", "api:read", "api:write"]);
    expect(await scopeOf(call)).toEqual(["api:read", "openid"]);
    expect(await usableLink(call)).toMatchObject({ notGranted: ["api:write"] });
    const shown = await link(["openid", "api:read"]);
    expect(await call.links.read("chat")).toMatchObject({ notGranted: ["api:write"] });
    refused = [];
    await visitor.press(shown, "reconnect", CHAT);
    expect(await scopeOf(call)).toEqual(["api:read", "api:write", "openid"]);
    expect(await usableLink(call)).toMatchObject({ notGranted: [] });
  });

  it("that the vendor refuses although granted are asked once more, then not granted", async () => {
    await link();
    const lacks = async () => (await usableLink(call)).lacks("api:read");
    // Until the user has answered, the question is the same.
    expect([await lacks(), await lacks()]).toEqual([true, true]);
    await link();
    expect(await lacks()).toBe(false);
    expect(await call.links.read("chat")).toMatchObject({ notGranted: ["api:read"] });
    await visitor.press(await visitor.open("/connections"), "reconnect", CHAT);
    expect(await call.links.read("chat")).toMatchObject({ notGranted: [] });
    expect(await lacks()).toBe(true);
  });
});

describe("dropped tokens of the account that is linked", () => {
  const revocation = {
    method: "POST",
    authentication: "basic",
    body: "form",
    tokenParameter: "token",
    goneStatuses: [],
  } as const;

  it.each([
    ["are revoked where that ends one token", { revocation: { ...revocation, ends: "token" } }, 1],
    ["expire where that ends the whole grant", { revocation: { ...revocation, ends: "grant" } }, 0],
    ["expire where the entry does not say what it ends", {}, 0],
  ] as const)("%s; those of another account are revoked", async (_, chat, revoked) => {
    await fixture.close();
    fixture = await openLinkingFixture({ chat });
    [call, visitor] = [await fixture.call(), await fixture.signedIn()];
    await link(["openid", "api:read", "api:write"]);
    const shown = await link(["openid", "api:read"]);
    await visitor.press(shown, "keep", CHAT);
    expect(fixture.revocations("chat")).toBe(revoked);
    const second = await fixture.signedIn();
    const other = await second.link(await call.ask("chat", ["openid", "api:write"]), { account: "operator" });
    await second.press(other, "keep", CHAT);
    expect(fixture.revocations("chat")).toBe(revoked + 1);
  });
});
