/** What changes between two steps of a flow of the pages, and what a page shows of another user. */
import { Secret } from "@oauth-broker/oauth-core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type LinkingFixture, type LinkingOptions, openLinkingFixture } from "../../testing/linking/fixture.ts";
import { location } from "../../testing/server-fixture.ts";
import { atVendor, endLink } from "../links/link.ts";
import { formCsrf } from "./form-token.ts";

const CHAT = { vendor: "chat" } as const;
let fixture: LinkingFixture;
/** After the vendor has redeemed a code, before anything is done with its tokens. */
let onRedeemed: () => Promise<unknown>;
const open = (options: Partial<LinkingOptions> = {}): Promise<LinkingFixture> =>
  openLinkingFixture({
    ...options,
    vendorClient: (real) => ({
      ...real,
      redeemCode: async (...args) => {
        const tokens = await real.redeemCode(...args);
        await onRedeemed();
        return tokens;
      },
    }),
  });
beforeEach(async () => {
  onRedeemed = async () => undefined;
  fixture = await open();
});
afterEach(() => fixture.close());

const resultOf = (answer: Response): string | null => answer.headers.get("location");

describe("a link whose user signs out while the vendor redeems the code", () => {
  it("bar#LK-9 is not stored, and its tokens are revoked", async () => {
    const visitor = await fixture.signedIn();
    const back = await visitor.atVendor(await visitor.beginLink("chat"));
    onRedeemed = () => fixture.deps.signIns.endAll("user");
    const answer = await visitor.get(back);
    expect(resultOf(answer)).toBe("/connections?error=access_denied");
    expect([await fixture.linked("chat"), fixture.revocations("chat")]).toEqual([undefined, 1]);
  });
});

it.each(["server_error", ""])(
  "a sign-in that its vendor ends with the error %j is not called our fault",
  async (error) => {
    const visitor = fixture.visitor();
    const back = await visitor.atVendor(await visitor.beginSignIn());
    back.searchParams.delete("code");
    back.searchParams.set("error", error);
    const answer = await visitor.get(back);
    expect([answer.status, await answer.text()]).toEqual([502, expect.stringContaining("vendor_response_invalid")]);
  },
);

describe("a question", () => {
  it("bar#LK-9 is not asked over another version than the page showed", async () => {
    const [first, second] = [await fixture.signedIn(), await fixture.signedIn()];
    const ask = (await fixture.call()).ask;
    await first.link(await ask());
    const page = await second.open("/connections");
    const back = await second.atVendor(await second.send(page, "reconnect", "chat"), { account: "operator" });
    // Disconnected and linked again in the meantime: there is a link, and it is another.
    await endLink("user", atVendor("chat", fixture));
    await first.link(await ask());
    const before = fixture.revocations("chat");
    expect(resultOf(await second.get(back))).toBe("/connections?error=link_changed");
    expect((await second.open("/connections")).html).not.toContain("This replaces");
    expect(fixture.revocations("chat")).toBe(before + 1);
  });

  it("of another user in this browser is neither shown nor answered", async () => {
    const visitor = await fixture.signedIn();
    await visitor.link(await (await fixture.call()).ask());
    const value = visitor.jar.get(new URL("https://server.example"), "__Host-sign-in") ?? "";
    const cookie = (await fixture.deps.signIns.read(`__Host-sign-in=${value}`))?.cookie.hash ?? "";
    const brought = { accessToken: new Secret("theirs"), tokenType: "Bearer" };
    const asked = { user: "operator", linkVersion: 1, isOther: true, tokens: brought };
    await fixture.deps.pendingTokens.ask({ ...asked, ...CHAT }, cookie);
    const waiting = await fixture.deps.pendingTokens.find("chat", cookie);
    const page = await visitor.open("/connections");
    expect(page.html).not.toContain("This replaces");
    // Even with the token of a form that was shown for it.
    const csrf = await formCsrf("user", ["question", "chat", waiting?.id ?? ""], 0, fixture.deps);
    expect(resultOf(await visitor.post("/connections", { ...CHAT, action: "replace", csrf }))).toBe(
      "/connections?error=link_changed",
    );
    expect(await fixture.deps.pendingTokens.find("chat", cookie)).toBeDefined();
  });
});

describe("the pages' own sign-in", () => {
  it("asks for no refresh token, which nobody would keep or revoke", async () => {
    await fixture.close();
    const offline = { offlineScopes: ["offline_access"] };
    fixture = await open({ home: offline, chat: offline });
    const visitor = fixture.visitor();
    const scopeOf = (answer: Response) => location(answer).searchParams.get("scope")?.split(" ") ?? [];
    expect(scopeOf(await visitor.beginSignIn())).not.toContain("offline_access");
    const page = await visitor.open("/connections");
    // A link does.
    expect(scopeOf(await visitor.send(page, "connect", "chat"))).toContain("offline_access");
  });

  it("asks for none if default or configured scopes identify the user", async () => {
    const { vendor } = fixture.settings;
    const defaultScopes = ["api:read", "keep", "offline_access"];
    const entry = { ...vendor.vendor, issuesIdTokens: false, defaultScopes, offlineScopes: ["keep"] };
    const again = fixture.again({ settings: { vendor: { ...vendor, vendor: entry, scopes: defaultScopes } } });
    const answer = await again.visitor().beginSignIn();
    expect(location(answer).searchParams.get("scope")).toBe("api:read");
  });

  it.each(["%2e%2e%2fetc", "a.b", "A".repeat(65)])(
    "goes back to the connections where the path %s is no ticket's",
    async (path) => {
      const shown = await fixture.visitor().open(`/connect/${path}`);
      expect([shown.status, shown.url.pathname]).toEqual([200, "/connections"]);
    },
  );

  it.each(["../connections", "x", "A".repeat(44), "%0d%0a"])(
    "does not follow *Use another account* with %s in place of a ticket",
    async (ticket) => {
      const visitor = await fixture.signedIn();
      const page = await visitor.open("/connections");
      const csrf = /name="csrf" value="([^"]+)"[^]*?value="sign_out"/.exec(
        page.html.split("Your account here")[1] ?? "",
      )?.[1];
      const answer = await visitor.post("/connections", { action: "sign_out", csrf, ticket });
      expect(resultOf(answer)).toBe("/connections?signed_out=true");
    },
  );
});

it("a vendor is said to be connected only where it is, whatever the URL says", async () => {
  const visitor = await fixture.signedIn();
  const says = async () => (await visitor.open("/connections?linked=chat")).html.includes("Chat Vendor is connected");
  expect(await says()).toBe(false);
  await visitor.link(await (await fixture.call()).ask());
  expect(await says()).toBe(true);
  await endLink("user", atVendor("chat", fixture));
  expect(await says()).toBe(false);
});
