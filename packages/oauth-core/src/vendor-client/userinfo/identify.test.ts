/** The user of tokens that have just been issued. */
import { describe, expect, it } from "vitest";
import { ACCESS_TOKEN, soundAnswer, SUBJECT } from "../../testing/network/faulty-vendor.ts";
import { labOfEachTest } from "../../testing/network/vendor-lab.ts";
import type { Vendor } from "../../registry/vendor.ts";
import { canIdentify } from "./identify.ts";

const lab = labOfEachTest();

const MISSING = { code: "vendor_response_invalid", extras: { reason: "identity_missing" } };
const identified = async (changes: Partial<Vendor> = {}): Promise<string> =>
  lab.client.identify(await lab.resolve(changes), await lab.redeem({ entry: changes }));
const withoutIdToken = (members: object = {}): void => {
  lab.vendor.answers.set("/token", { body: { ...soundAnswer(), scope: "email", ...members } });
};
const me = (): string => `${lab.vendor.issuer}/me`;

describe("a person at an OpenID vendor", () => {
  it("is the subject of the ID token, and nothing is asked", async () => {
    expect(await identified({ userinfoEndpoint: me() })).toBe(SUBJECT);
    expect(lab.vendor.asked()).not.toContain("/me");
  });

  it("is the subject of userinfo where no ID token came", async () => {
    withoutIdToken();
    lab.vendor.answers.set("/me", { body: { sub: SUBJECT, email: "ada@example.com" } });
    expect(await identified({ userinfoEndpoint: me() })).toBe(SUBJECT);
  });

  it("is no user without either, with an e-mail address, or if the vendor refuses", async () => {
    await lab.vendor.grant({ claims: { sub: "ada@example.com" } });
    await expect(identified()).rejects.toMatchObject(MISSING);
    withoutIdToken();
    await expect(identified()).rejects.toMatchObject(MISSING);
    lab.vendor.answers.set("/me", { status: 401 });
    await expect(identified({ userinfoEndpoint: me() })).rejects.toMatchObject(MISSING);
  });

  it("is no user by subject alone where tenants have issuers of their own", async () => {
    const tokens = await lab.redeem();
    const issuerTemplate = { placeholder: "t", claim: "tid", pattern: "\\d+" };
    await expect(lab.client.identify(await lab.resolve({ issuerTemplate }), tokens)).rejects.toMatchObject(MISSING);
  });
});

describe("a person as the vendor's file says", () => {
  it("is joined from claims of the ID token", async () => {
    await lab.vendor.grant({ claims: { tid: "t1", oid: "o1" } });
    expect(await identified({ identity: { from: "id_token", members: ["tid", "oid"] } })).toBe("t1:o1");
    await expect(identified({ identity: { from: "id_token", members: ["tid", "puid"] } })).rejects.toMatchObject(
      MISSING,
    );
    withoutIdToken();
    await expect(identified({ identity: { from: "id_token", members: ["tid", "oid"] } })).rejects.toMatchObject(
      MISSING,
    );
  });

  it("is joined from members of the token answer, and nothing is asked", async () => {
    const entry: Partial<Vendor> = {
      issuesIdTokens: false,
      identity: { from: "token_response", members: ["team.id", "user.id"] },
      account: { endpoint: me(), method: "GET" },
    };
    withoutIdToken({ team: { id: "T1" }, user: { id: 7 } });
    expect(await identified(entry)).toBe("T1:7");
    withoutIdToken({ team: null, user: { id: 7 } });
    await expect(identified(entry)).rejects.toMatchObject(MISSING);
    expect(lab.vendor.asked()).not.toContain("/me");
  });

  it("is a member of the account, also where an ID token came", async () => {
    lab.vendor.answers.set("/me", { body: { id: 42, login: "ada" } });
    expect(await identified({ account: { endpoint: me(), method: "GET", identity: ["id"] } })).toBe("42");
    expect(lab.vendor.received.at(-1)?.headers.authorization).toBe(`Bearer ${ACCESS_TOKEN}`);
  });

  it("is the subject of the ID token, and the same member of the account where none came", async () => {
    const entry: Partial<Vendor> = {
      identity: { from: "id_token", members: ["sub"] },
      account: { endpoint: me(), method: "GET", identity: ["id"] },
    };
    lab.vendor.answers.set("/me", { body: { id: 42 } });
    expect(await identified(entry)).toBe(SUBJECT);
    expect(lab.vendor.asked()).not.toContain("/me");
    withoutIdToken();
    expect(await identified(entry)).toBe("42");
  });

  it("is not known now where the account is down", async () => {
    lab.vendor.answers.set("/me", { status: 500 });
    const entry: Partial<Vendor> = { account: { endpoint: me(), method: "GET", identity: ["id"] } };
    await expect(identified(entry)).rejects.toMatchObject({ code: "temporarily_unavailable" });
  });

  it("is the user an operator's userinfo names where the registry states no identity", async () => {
    lab.vendor.answers.set("/me", { body: { sub: SUBJECT } });
    expect(await identified({ identity: "unknown", userinfoEndpoint: me() })).toBe(SUBJECT);
    withoutIdToken();
    lab.vendor.answers.set("/me", { body: { sub: "by-userinfo" } });
    expect(await identified({ identity: "unknown", userinfoEndpoint: me() })).toBe("by-userinfo");
  });

  it("bar#UI-1 is no user where userinfo names another subject than the ID token, or none (#11)", async () => {
    for (const body of [{ sub: "another-person" }, { email: "ada@example.com" }, { sub: "" }]) {
      lab.vendor.answers.set("/me", { body });
      await expect(identified({ identity: "unknown", userinfoEndpoint: me() })).rejects.toMatchObject({
        code: "vendor_response_invalid",
      });
    }
  });

  it("is no user where the registry states no identity", async () => {
    await expect(identified({ identity: "unknown" })).rejects.toMatchObject(MISSING);
  });
});

it("canIdentify answers before the first user connects", async () => {
  const account = { endpoint: "https://v.example/me", method: "GET" } as const;
  const plain: Partial<Vendor> = { issuesIdTokens: false };
  const can = async (changes: Partial<Vendor>): Promise<boolean> => canIdentify(await lab.resolve(changes));
  expect(await can({})).toBe(true);
  expect(await can(plain)).toBe(false);
  expect(await can({ ...plain, account })).toBe(false);
  expect(await can({ ...plain, account: { ...account, identity: ["id"] } })).toBe(true);
  expect(await can({ ...plain, userinfoEndpoint: "https://v.example/me" })).toBe(true);
  expect(await can({ identity: "unknown" })).toBe(false);
  expect(await can({ identity: "unknown", userinfoEndpoint: "https://v.example/me" })).toBe(true);
  expect(await can({ ...plain, identity: { from: "token_response", members: ["id"] } })).toBe(true);
});

it("a shop that all its users share identifies an account and no user", async () => {
  const shop: Partial<Vendor> = {
    issuesIdTokens: false,
    identifies: "organization",
    identity: { from: "token_response", members: ["shop_id"] },
  };
  const vendor = await lab.resolve(shop);
  const tokens = (accessToken: string) => ({ accessToken, tokenType: "Bearer", vendorData: { shop_id: "s1" } });
  // Two employees: who is signed in by this is signed in as the other.
  expect(await lab.client.identify(vendor, tokens("of-one"))).toBe(await lab.client.identify(vendor, tokens("of-two")));
  expect([canIdentify(vendor), canIdentify(vendor, "user")]).toEqual([true, false]);
  const { identifies: _of, ...ofUsers } = vendor;
  expect(canIdentify(ofUsers, "user")).toBe(true);
});
