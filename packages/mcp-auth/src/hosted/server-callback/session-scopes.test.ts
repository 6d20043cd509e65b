/** With several vendors: which scopes a session has, and what the user is shown of them. */
import { ofEachTest } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { ALL_SCOPES, openStubLinkingFixture } from "../../testing/linking/stub-linking.ts";
import { BACK, expectPage } from "../../testing/server-fixture.ts";

const fixture = ofEachTest(openStubLinkingFixture);

const sessionOf = (accessToken = "") => fixture.sessions.identify(accessToken);

describe("the scope of a session", () => {
  it("rfc8414#2 rfc9728#2 is of all that every vendor has, by vendor", async () => {
    for (const path of ["/.well-known/oauth-authorization-server", "/.well-known/oauth-protected-resource"]) {
      const metadata = (await (await fixture.request(path)).json()) as Record<string, unknown>;
      expect(metadata["scopes_supported"]).toEqual(ALL_SCOPES);
    }
  });

  it("rfc6749#3.3 is all of it when the client names none", async () => {
    const { body, vendor } = await fixture.connect();
    expect(body["scope"]).toBe(ALL_SCOPES.join(" "));
    expect(await sessionOf(body["access_token"])).toMatchObject({ scope: ALL_SCOPES });
    expect(vendor.searchParams.get("scope")).toBe("read write");
    expect(vendor.searchParams.get("redirect_uri")).toBe(`${fixture.settings.deploymentUrl}/callback`);
  });

  it.each([
    ["main:read chat:post", "main:read chat:post", "read"],
    ["chat:main:read", "chat:main:read", null],
    ["main:write", "main:write", "write"],
  ])("is what the client named, %s, and the vendor is asked for its own part", async (scope, granted, asked) => {
    const { body, vendor } = await fixture.connect({ scope });
    expect(body["scope"]).toBe(granted);
    expect(vendor.searchParams.get("scope")).toBe(asked);
  });

  it.each([
    ["of no vendor", "read"],
    ["of a vendor that is not there", "other:read"],
    ["that its vendor does not have", "chat:write"],
    ["of another vendor's", "main:post"],
    ["of a vendor without scopes", "wiki:read"],
    ["beside a good one", "main:read main:admin"],
  ])("rfc6749#3.3 is no scope %s", async (_, scope) => {
    const answer = await fixture.browser().authorize({ scope });
    const back = new URL(answer.headers.get("location") ?? "none:");
    expect(back.href.startsWith(BACK)).toBe(true);
    expect(back.searchParams.get("error")).toBe("invalid_scope");
  });

  it("is never more than the user consented to, although the vendor grants more", async () => {
    const { body } = await fixture.connect({ scope: "main:read chat:post" });
    expect(body["scope"]).toBe("main:read chat:post");
    const refreshed = await fixture.refresh(body["refresh_token"], { scope: "main:read main:write" });
    expect(refreshed).toMatchObject({ status: 400, body: { error: "invalid_scope" } });
  });

  it("is narrowed by a refresh, by vendor", async () => {
    const { body } = await fixture.connect();
    const { body: narrowed } = await fixture.refresh(body["refresh_token"], { scope: "chat:post" });
    expect(narrowed["scope"]).toBe("chat:post");
    expect(await sessionOf(narrowed["access_token"])).toMatchObject({ scope: ["chat:post"] });
  });
});

describe("bar#AS-7 the consent page", () => {
  it("lists what is asked by vendor, and says when the others are linked", async () => {
    const { html } = await fixture.browser().ask();
    expect(html).toContain("Desk asks to use your Main Vendor, Chat Vendor and Wiki accounts");
    for (const [term, shown] of [
      ["Permissions at Main Vendor", "read write"],
      ["Permissions at Chat Vendor", "post main:read"],
      ["Permissions at Wiki", "as you grant them there"],
    ])
      expect(html).toContain(`<dt>${term}</dt><dd><bdi>${shown}</bdi></dd>`);
    expect(html).toContain("You sign in at Main Vendor now. Your accounts at the others are linked later");
    expect(html).toContain("Continue to Main Vendor");
  });

  it("names a vendor only where something of it is asked, and the one that signs in always", async () => {
    const { html } = await fixture.browser().ask({ scope: "main:read" });
    expect(html).not.toContain("Chat Vendor");
    const { html: other } = await fixture.browser().ask({ scope: "chat:post" });
    expect(other).toContain("<dt>Permissions at Main Vendor</dt><dd><bdi>who you are</bdi></dd>");
    expect(other).toContain("<dt>Permissions at Chat Vendor</dt><dd><bdi>post</bdi></dd>");
  });
});

it("bar#AS-9 a consent for one vendor's scopes is none for another's", async () => {
  const browser = fixture.browser();
  const page = await browser.ask({ scope: "main:read" });
  for (const scope of ["chat:post", "main:read chat:post", undefined]) {
    await expectPage(await browser.decide({ ...page, fields: { ...page.fields, scope: scope ?? "" } }));
  }
  expect(fixture.stub.requests("/authorize")).toBe(0);
});

describe("after VENDOR became VENDORS with the same vendor", () => {
  it("sessions, links and flows under way stay good", async () => {
    await using before = await openStubLinkingFixture({ alone: true });
    await using after = before.again("VENDORS");
    const browser = before.browser();
    const { body } = await before.redeem((await browser.connect()).searchParams.get("code"));
    expect(body["scope"]).toBe("read write");
    const underWay = await browser.approve();
    expect(await after.sessions.identify(body["access_token"] ?? "")).toMatchObject({
      user: "user",
      scope: ["main:read", "main:write"],
    });
    const refreshed = await after.refresh(body["refresh_token"]);
    expect(refreshed).toMatchObject({ status: 200, body: { scope: "main:read main:write" } });
    const back = await browser.consent(underWay);
    const callback = await after.request(back.pathname + back.search, {
      headers: { cookie: browser.jar.header(back) },
    });
    const code = new URL(callback.headers.get("location") ?? "none:").searchParams.get("code") ?? "";
    expect((await after.redeem(code)).body["scope"]).toBe("main:read main:write");
  });
});

describe("a refresh with VENDORS", () => {
  it("does not ask for the sign-in vendor's link: no dead grant ends a session", async () => {
    const { body } = await fixture.connect();
    fixture.down.add("tokens");
    expect((await fixture.refresh(body["refresh_token"])).status).toBe(200);
  });
});
