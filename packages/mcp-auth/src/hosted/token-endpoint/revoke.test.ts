import { Secret } from "@oauth-broker/oauth-core";
import { ofEachTest, REFLECTED } from "@oauth-broker/oauth-core/testing";
import { memoryTokenRows } from "@oauth-broker/token-store/memory";
import { describe, expect, it } from "vitest";
import { openOpenIdFixture } from "../../testing/hosted-fixture.ts";
import { openStubLinkingFixture } from "../../testing/linking/stub-linking.ts";
import { identitySource } from "../records/identity-source.ts";
import { atVendor, endLink, linkKey } from "../links/link.ts";

const fixture = ofEachTest(openOpenIdFixture);

const revocations = (): number => fixture.provider.requests().filter(({ path }) => path === "/token/revocation").length;
const link = () => fixture.tokens.get(linkKey("user", fixture));

describe("POST /revoke", () => {
  it("rfc7009#2.2 bar#AS-21 answers 200 for an unknown token, and nothing ends", async () => {
    const { body } = await fixture.connect();
    const token = body["access_token"] ?? "";
    for (const unknown of ["no-token-of-ours", `${token}x`, token.slice(0, -1), REFLECTED]) {
      expect((await fixture.revoke(unknown)).status).toBe(200);
    }
    expect(await fixture.authenticate(token)).toBeDefined();
  });

  it("bar#AS-21 authenticates the client first", async () => {
    const { body } = await fixture.connect();
    expect((await fixture.revoke(body["access_token"], { client_id: "another" })).status).toBe(401);
    expect(await fixture.authenticate(body["access_token"] ?? "")).toBeDefined();
  });

  it("bar#RV-1 rfc7009#2.1 ends the session, and with the last one the link everywhere", async () => {
    const [one, two] = [(await fixture.connect()).body, (await fixture.connect()).body];
    expect((await fixture.revoke(one["refresh_token"] ?? "")).status).toBe(200);
    expect(await fixture.authenticate(one["access_token"] ?? "")).toBeUndefined();
    expect(await fixture.authenticate(two["access_token"] ?? "")).toBeDefined();
    expect([revocations(), (await link())?.status]).toEqual([0, "active"]);
    expect((await fixture.revoke(two["access_token"] ?? "")).status).toBe(200);
    expect([revocations(), await link()]).toEqual([1, undefined]);
    expect((await fixture.refresh(two["refresh_token"] ?? "")).body["error"]).toBe("invalid_grant");
  });

  it("can be repeated when the link could not be ended", async () => {
    const { body } = await fixture.connect();
    fixture.down.add("tokens");
    expect((await fixture.revoke(body["refresh_token"])).status).toBe(503);
    fixture.down.clear();
    expect(await fixture.authenticate(body["access_token"] ?? "")).toBeUndefined();
    expect((await fixture.revoke(body["refresh_token"])).status).toBe(200);
    expect([revocations(), await link()]).toEqual([1, undefined]);
  });

  it("works without the vendor", async () => {
    const { body } = await fixture.connect();
    fixture.provider.faults.next("/token/revocation", { kind: "drop" });
    expect((await fixture.revoke(body["refresh_token"])).status).toBe(200);
    expect(await link()).toBeUndefined();
  });
});

describe("POST /revoke with several vendors", () => {
  const open = async (endLinksWithLastSession: boolean) => {
    const several = await openStubLinkingFixture({ linking: { endLinksWithLastSession } });
    const links = async (): Promise<readonly string[]> => {
      const found: string[] = [];
      for await (const { vendor } of several.tokens.links("user", identitySource(several.settings))) found.push(vendor);
      return found;
    };
    const tokens = { accessToken: new Secret("at"), tokenType: "Bearer" };
    await several.tokens.put(linkKey("user", atVendor("chat", several)), tokens);
    return { ...several, links };
  };

  it("ends the session alone: the links are the user's", async () => {
    await using several = await open(false);
    const { access_token: access, refresh_token: refresh } = (await several.connect()).body;
    expect((await several.revoke(refresh)).status).toBe(200);
    expect(await several.sessions.identify(access ?? "")).toBeUndefined();
    expect([await several.links(), several.stub.requests("/revoke")]).toEqual([["chat", "main"], 0]);
  });

  it("bar#RV-1 ends with the last session the links at every vendor, where the operator wants it", async () => {
    await using several = await open(true);
    const [one, two] = [(await several.connect()).body, (await several.connect()).body];
    await several.revoke(one["refresh_token"]);
    expect(await several.links()).toEqual(["chat", "main"]);
    await several.revoke(two["access_token"]);
    expect([await several.links(), several.stub.requests("/revoke")]).toEqual([[], 2]);
  });

  it("can be repeated when the links could not be ended", async () => {
    await using several = await open(true);
    const { refresh_token: refresh } = (await several.connect()).body;
    several.down.add("tokens");
    expect((await several.revoke(refresh)).status).toBe(503);
    several.down.clear();
    expect([(await several.revoke(refresh)).status, await several.links()]).toEqual([200, []]);
  });
});

describe("endLink", () => {
  it("returns the vendor's result", async () => {
    expect(await endLink("unknown", fixture)).toEqual({});
    await fixture.connect();
    expect(await endLink("user", fixture)).toEqual({ vendor: "token" });
    await fixture.connect();
    fixture.provider.faults.next("/token/revocation", { kind: "drop" });
    expect(await endLink("user", fixture)).toEqual({ vendor: "failed" });
  });

  it("leaves a link that began during the revocation", async () => {
    await fixture.connect();
    const { vendorClient } = fixture;
    const meanwhile: typeof vendorClient = {
      ...vendorClient,
      revokeGrant: async () => {
        await fixture.connect();
        return "token";
      },
    };
    await endLink("user", { ...fixture, vendorClient: meanwhile });
    expect((await link())?.status).toBe("active");
  });

  it("bar#RV-1 leaves a link that begins just before the ended one is deleted", async () => {
    const rows = memoryTokenRows();
    let beforeDelete = async (): Promise<unknown> => undefined;
    await using racing = await openOpenIdFixture({
      rows: {
        ...rows,
        delete: async (...args) => {
          await beforeDelete();
          return rows.delete(...args);
        },
      },
    });
    await racing.connect();
    beforeDelete = () => racing.connect();
    await endLink("user", racing);
    expect((await racing.tokens.get(linkKey("user", racing)))?.status).toBe("active");
  });
});
