/**
 * The operator sets another vendor, or another issuer of the same id, over the same table: user
 * `user` of the previous vendor is not user `user` of the present one. The twins are in
 * table-writer.twin.test.ts.
 */
import { defineVendor, type Vendor } from "@oauth-broker/oauth-core/registry";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { expectPage, openServerFixture, openStubServerFixture, type ServerFixture } from "../testing/server-fixture.ts";
import { SAME, testSessions, WHO } from "../testing/test-sessions.ts";
import { linkKey } from "./links/link.ts";

const INVALID_GRANT = { status: 400, body: { error: "invalid_grant" } };

/** What the operator may change, applied over the previous vendor. */
const CHANGES: readonly [string, (vendor: Vendor) => Partial<Vendor>][] = [
  ["another id at the same place", () => ({ id: "another" })],
  ["the same id at another place", () => ({ tokenEndpoint: "https://another.example/token" })],
  ["the same id and place with an issuer", () => ({ issuer: "https://another.example" })],
];

describe.each(CHANGES)("a server whose vendor was changed to %s", (_what, change) => {
  let before: ServerFixture;
  let after: ServerFixture;
  beforeEach(async () => {
    before = await openStubServerFixture();
    const vendor = before.settings.vendor.vendor;
    const { authorizationEndpoint = "", tokenEndpoint = "", id, name } = vendor;
    after = openServerFixture({
      // As after a restart: the same table, the same key in it.
      records: () => before.table,
      vendor: defineVendor({ id, name, authorizationEndpoint, tokenEndpoint, ...change(vendor) }),
      scopes: ["read", "write"],
      frozen: true,
      vendorClient: (real) => ({
        ...real,
        identify: async () => "user",
        resolve: async () => real.resolve(vendor),
        refreshTokens: async () => Promise.reject(new Error("this vendor is not to be asked")),
      }),
    });
  });
  afterEach(async () => {
    await after.close();
    await before.close();
  });

  const connect = async (fixture: ServerFixture) => {
    const { status, body } = await fixture.connect();
    expect(status).toBe(200);
    return { access: body["access_token"] ?? "", refresh: body["refresh_token"] ?? "" };
  };

  it("bar#RS-2 accepts no session of the previous vendor, even of a user with the same name", async () => {
    const old = await connect(before);
    const present = await connect(after);
    expect(await after.authenticate(old.access)).toBeUndefined();
    expect(await after.refresh(old.refresh)).toMatchObject(INVALID_GRANT);
    expect(await after.authenticate(present.access)).toMatchObject({ user: "user" });
    // It was not spent: when the previous vendor is configured again, its sessions are valid again.
    expect(await before.authenticate(old.access)).toMatchObject({ user: "user" });
  });

  it("neither counts nor ends its sessions together with those of the present vendor", async () => {
    const old = await connect(before);
    const present = await connect(after);
    await after.revoke(old.refresh);
    expect(await after.authenticate(present.access)).toBeDefined();
    // The last session of the present vendor's user: the link ends with it, although a session of
    // the previous vendor is live.
    await after.revoke(present.access);
    expect(await after.tokens.get(linkKey("user", after))).toBeUndefined();
    const again = await connect(after);
    expect(await after.sessions.endAll("user")).toBe(1);
    expect(await after.authenticate(again.access)).toBeUndefined();
    expect(await before.authenticate(old.access)).toBeDefined();
  });

  it("finishes no sign-in that began at the previous vendor, on any leg", async () => {
    const browser = before.browser();
    const callback = await browser.consent(await browser.approve());
    const cookie = browser.jar.header(callback) ?? "";
    const answer = await after.request(callback.pathname + callback.search, { headers: { cookie } });
    expect(await expectPage(answer)).toContain("state_unknown");
    const code = (await browser.finish(callback)).searchParams.get("code") ?? "";
    expect(await after.redeem(code)).toMatchObject(INVALID_GRANT);
    expect((await before.redeem(code)).status).toBe(200);
  });
});

it("bar#RS-2 a session is invalid at another vendor or issuer", async () => {
  const { sessions, again } = testSessions();
  const { session, tokens } = await sessions.start(WHO);
  for (const source of [
    { vendor: "another", issuer: "https://issuer.example" },
    { vendor: "example", issuer: "https://another.example" },
    { vendor: "example\0", issuer: "https://issuer.example" },
  ]) {
    const other = again({ source });
    expect(await other.identify(tokens.accessToken)).toBeUndefined();
    expect(await other.find(tokens.refreshToken)).toBeUndefined();
    await expect(other.refresh(tokens.refreshToken, SAME)).rejects.toThrow(
      expect.objectContaining({ code: "invalid_grant" }),
    );
    expect(await other.revoke(tokens.refreshToken, WHO.clientId)).toBeUndefined();
    await other.end(session.id);
    expect(await other.endAll(WHO.user)).toBe(0);
  }
  expect(await sessions.identify(tokens.accessToken)).toMatchObject({ user: WHO.user });
});
