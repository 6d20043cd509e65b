/**
 * The operator sets another vendor, or another issuer of the same id, over the same table: user
 * `user` of the previous vendor is not user `user` of the present one. The twins are in
 * table-writer.twin.test.ts.
 */
import { join } from "node:path";
import { defineVendor, type Vendor } from "@oauth-broker/oauth-core/registry";
import { ofEachTest, temporaryFolder } from "@oauth-broker/oauth-core/testing";
import { localKeyWrapper } from "@oauth-broker/token-store";
import { beforeEach, describe, expect, it } from "vitest";
import { expectPage, openServerFixture, openStubServerFixture, type ServerFixture } from "../testing/server-fixture.ts";
import { CREDENTIALS } from "../testing/hosted-fixture.ts";
import { endLink, linkKey } from "./links/link.ts";

const INVALID_GRANT = { status: 400, body: { error: "invalid_grant" } };

/** What the operator may change, applied over the previous vendor. */
const CHANGES: readonly [string, (vendor: Vendor) => Partial<Vendor>][] = [
  ["another id at the same place", () => ({ id: "another" })],
  ["the same id at another place", () => ({ tokenEndpoint: "https://another.example/token" })],
  ["the same id and place with an issuer", () => ({ issuer: "https://another.example" })],
];

const connect = async (fixture: ServerFixture) => {
  const { status, body } = await fixture.connect();
  expect(status).toBe(200);
  return { access: body["access_token"] ?? "", refresh: body["refresh_token"] ?? "" };
};

describe.each(CHANGES)("a server whose vendor was changed to %s", (_what, change) => {
  const before = ofEachTest(openStubServerFixture);
  const after = ofEachTest(() => {
    const vendor = before.settings.vendor.vendor;
    const { authorizationEndpoint = "", tokenEndpoint = "", id, name } = vendor;
    return openServerFixture({
      // As after a restart: the same table, the same key in it.
      records: () => before.table,
      vendor: defineVendor({ id, name, authorizationEndpoint, tokenEndpoint, ...change(vendor) }),
      scopes: ["read", "write"],
      vendorClient: (real) => ({
        ...real,
        identify: async () => "user",
        resolve: async () => real.resolve(vendor),
        refreshTokens: async () => Promise.reject(new Error("this vendor is not to be asked")),
      }),
    });
  });

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

describe("a server whose client at the vendor was changed", () => {
  const HOUR = 3600;
  let asked: string[];
  beforeEach(() => {
    asked = [];
  });
  const keys = ofEachTest(() => localKeyWrapper({ path: join(temporaryFolder(), "key") }));
  const before = ofEachTest(() => openStubServerFixture({ keys }));
  const after = ofEachTest(() =>
    openServerFixture({
      records: () => before.table,
      rows: before.rows,
      keys,
      vendor: before.settings.vendor.vendor,
      credentials: { ...CREDENTIALS, clientId: "another-client" },
      scopes: ["read", "write"],
      vendorClient: (real) => ({
        ...real,
        identify: async () => "user",
        redeemCode: async (...args) => ({ ...(await real.redeemCode(...args)), scope: ["read"] }),
        refreshTokens: async (_vendor, { clientId }, { refreshToken }) => {
          asked.push(`${clientId} ${refreshToken}`);
          return { accessToken: "refreshed", tokenType: "Bearer", vendorData: {} };
        },
        revokeGrant: async (_vendor, { clientId }) => {
          asked.push(`revoked by ${clientId}`);
          return "token";
        },
      }),
    }),
  );
  const pass = (seconds: number) => {
    for (const fixture of [before, after]) fixture.clock.advance(seconds);
  };

  it("bar#BY-4 asks the user to connect again, not the vendor, once the access token has run out", async () => {
    const old = await connect(before);
    expect(await after.authenticate(old.access)).toMatchObject({ user: "user" });
    const next = await after.refresh(old.refresh);
    pass(HOUR);
    expect(await after.refresh(next.body["refresh_token"])).toMatchObject(INVALID_GRANT);
    expect(asked).toEqual([]);
    // Nothing was ended: the operator configures the client again.
    const again = await before.refresh(next.body["refresh_token"]);
    expect(await before.authenticate(again.body["access_token"] ?? "")).toMatchObject({ user: "user" });
    const { access } = await connect(after);
    pass(HOUR - 1);
    expect(await after.authenticate(access)).toMatchObject({ user: "user" });
    expect(asked).toEqual([expect.stringMatching(/^another-client /)]);
  });

  it("bar#BY-4 ends for good what the vendor refuses, and claims no revocation", async () => {
    const old = await connect(before);
    const caller = await after.authenticate(old.access);
    expect(await caller?.refused(await caller.vendorToken())).toBeUndefined();
    expect(await before.authenticate(old.access)).toBeUndefined();
    await connect(before);
    expect([await endLink("user", after), asked]).toEqual([{ vendor: "failed" }, []]);
  });

  it("replaces a link of the client before also by a narrower one", async () => {
    await connect(before);
    await connect(after);
    const { tokens } = (await after.tokens.get(linkKey("user", after)))!;
    expect(tokens).toMatchObject({ scope: "read", clientId: "another-client" });
  });

  it("goes on with a link of an earlier release, which names no client", async () => {
    const old = await connect(before);
    const { clientId, ...tokens } = (await before.tokens.get(linkKey("user", before)))!.tokens;
    expect(clientId).toBe(CREDENTIALS.clientId);
    await before.tokens.put(linkKey("user", before), { ...tokens, expiresAt: before.now() });
    expect(await after.authenticate(old.access)).toMatchObject({ user: "user" });
    expect((await after.tokens.get(linkKey("user", after)))?.tokens.clientId).toBe("another-client");
    expect(asked).toHaveLength(1);
  });
});
