/**
 * `offline_access`: clients add it to every request, and it is between them and the authorization
 * server. It asks for nothing here, is never named as the resource, and the vendor that has it is
 * asked for it always.
 */
import { describe, expect, it } from "vitest";
import { HOSTED, PRE_REGISTERED, SERVER as SERVER_ENVIRONMENT, SEVERAL } from "../testing/environments.ts";
import { openStubLinkingFixture } from "../testing/linking/stub-linking.ts";
import { severalVendors } from "./link-policy/link-policy.ts";
import { withOwed } from "./link-policy/scope.ts";
import { openStubServerFixture } from "../testing/server-fixture.ts";
import { openTestApp } from "../testing/test-app.ts";

describe("rfc6749#3.3 where the vendor does not have it, it asks for nothing", () => {
  it.each([
    ["beside another", "read offline_access", "read"],
    ["first", "offline_access read", "read"],
    ["alone", "offline_access", "read write"],
  ])("%s", async (_what, scope, granted) => {
    await using fixture = await openStubServerFixture({ scopes: ["read", "write"] });
    const { vendor, body } = await fixture.connect({ scope });
    expect(vendor.searchParams.get("scope")).toBe(granted);
    const refreshed = await fixture.refresh(body["refresh_token"], { scope });
    expect([refreshed.status, refreshed.body["scope"]]).toEqual([200, granted]);
  });

  it.each(["main:read offline_access", "main:read main:offline_access", "chat:offline_access main:read"])(
    "with VENDORS too: %s",
    async (scope) => {
      await using fixture = await openStubLinkingFixture();
      const { body } = await fixture.connect({ scope });
      expect(body["scope"]).toBe("main:read");
      const refreshed = await fixture.refresh(body["refresh_token"], { scope });
      expect([refreshed.status, refreshed.body["scope"]]).toEqual([200, "main:read"]);
    },
  );

  it.each([
    ["read admin offline_access", "This server does not support the scope admin"],
    ["admin:x admin:y", "This server does not support the scope admin:x admin:y"],
    ["offline_access2", "This server does not support the scope offline_access2"],
    ["main:offline_access", "This server does not support the scope main:offline_access"],
    ["a b c d e f g", "This server does not support the scope a b c d e and 2 more"],
    [`x${"y".repeat(300)}`, `This server does not support the scope x${"y".repeat(63)}...`],
  ])("and any other value is invalid_scope, by name: %s", async (scope, description) => {
    await using fixture = await openStubServerFixture({ scopes: ["read"] });
    const back = new URL((await fixture.browser().authorize({ scope })).headers.get("location") ?? "none:");
    expect(back.searchParams.get("error")).toBe("invalid_scope");
    expect(back.searchParams.get("error_description")).toBe(description);
  });
});

describe("where the vendor has it", () => {
  it.each([
    ["read offline_access", "read"],
    ["offline_access", "read write"],
  ])("and does not echo it, a refresh may still name it: %s", async (scope, granted) => {
    await using fixture = await openStubServerFixture({ scopes: ["read", "write", "offline_access"] });
    const { vendor, body } = await fixture.connect();
    expect([vendor.searchParams.get("scope"), body["scope"]]).toEqual(["read write offline_access", "read write"]);
    const refreshed = await fixture.refresh(body["refresh_token"], { scope });
    expect([refreshed.status, refreshed.body["scope"]]).toEqual([200, granted]);
    const more = await fixture.refresh(refreshed.body["refresh_token"], { scope: "read admin offline_access" });
    expect([more.status, more.body]).toMatchObject([400, { error: "invalid_scope" }]);
  });

  it("with VENDORS likewise", async () => {
    await using fixture = await openStubLinkingFixture({ mainScopes: ["read", "write", "offline_access"] });
    const scope = "main:read main:offline_access";
    const { body } = await fixture.connect({ scope });
    expect(body["scope"]).toBe("main:read");
    const refreshed = await fixture.refresh(body["refresh_token"], { scope });
    expect([refreshed.status, refreshed.body["scope"]]).toEqual([200, "main:read"]);
    const other = await fixture.refresh(refreshed.body["refresh_token"], { scope: "main:read other:offline_access" });
    expect([other.status, other.body]).toMatchObject([400, { error: "invalid_scope" }]);
  });

  it.each([undefined, "read", "offline_access", "read offline_access"])(
    "the vendor is asked for it: %s",
    async (scope) => {
      await using fixture = await openStubServerFixture({ scopes: ["read", "offline_access"] });
      const { vendor } = await fixture.connect({ scope });
      expect(vendor.searchParams.get("scope")?.split(" ")).toContain("offline_access");
    },
  );

  it("with VENDORS the vendor that signs in and the one that is linked are", async () => {
    await using fixture = await openStubLinkingFixture();
    const { links, vendor } = fixture.settings;
    const having = { ...vendor, scopes: [...vendor.scopes, "offline_access"] };
    const { signInScope } = severalVendors({ ...links, vendors: new Map([...links.vendors, ["main", having]]) });
    expect(signInScope(["main:read"])).toEqual(["read", "offline_access"]);
    expect(withOwed(["post"], { ...having, scopes: ["post", "offline_access"] })).toEqual(["post", "offline_access"]);
  });
});

it.each<[what: string, environment: Readonly<Record<string, string>>]>([
  ["pre-registered", { ...PRE_REGISTERED, VENDOR_SCOPES: "read:user offline_access" }],
  ["hosted, the platform's callback", { ...HOSTED, VENDOR_SCOPES: "read:user offline_access" }],
  ["hosted, its own callback", { ...SERVER_ENVIRONMENT, VENDOR_SCOPES: "read:user offline_access" }],
  ["several vendors", { ...SEVERAL, VENDOR_MAIN_SCOPES: "openid read:user offline_access" }],
])("bar#AS-17 the resource does not name it in challenges and metadata, %s", async (_what, environment) => {
  await using app = await openTestApp(environment);
  const challenge = (await app.ask("/mcp")).headers.get("www-authenticate") ?? "";
  expect(challenge).toContain("read:user");
  expect(challenge).not.toContain("offline_access");
  if (app.settings.mode !== "hosted") return;
  const scopesOf = async (path: string) =>
    ((await (await app.ask(path)).json()) as Record<string, unknown>)["scopes_supported"];
  expect(String(await scopesOf("/.well-known/oauth-protected-resource/mcp"))).not.toContain("offline_access");
  expect(String(await scopesOf("/.well-known/oauth-authorization-server"))).toContain("offline_access");
});
