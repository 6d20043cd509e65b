/** What a vendor says about the token of a connection, in each of its ways, and what it does not say. */
import { describe, expect, it } from "vitest";
import {
  type Answer,
  ACCESS_TOKEN,
  CLIENT_ID,
  SUBJECT,
  soundIntrospection,
} from "../../testing/network/faulty-vendor.ts";
import { labOfEachTest, NOW } from "../../testing/network/vendor-lab.ts";
import type { Vendor, VendorCredentials } from "../../registry/vendor.ts";
import { keptOf } from "../kept.ts";
import type { CheckedAccount, CheckRequest } from "./check.ts";

const lab = labOfEachTest({ timeoutMs: 1_000 });

const at = (path: string): string => `${lab.vendor.issuer}${path}`;
const introspection = (): Partial<Vendor> => ({
  introspectionEndpoint: at("/token-info"),
  userinfoEndpoint: at("/me"),
});
const userinfo = (): Partial<Vendor> => ({ userinfoEndpoint: at("/me") });
const account = (): Partial<Vendor> => ({
  account: { endpoint: at("/me"), method: "GET", identity: ["id"], scopeHeader: "x-oauth-scopes" },
});
const tokenCheck = (): Partial<Vendor> => ({
  ...account(),
  tokenCheck: {
    endpoint: at("/token-info"),
    method: "POST",
    authentication: "basic",
    tokenParameter: "access_token",
    inactiveStatuses: [404],
    client: ["client_id"],
    identity: ["user.id"],
    scope: "scope",
  },
});
const ours = (): CheckedAccount => ({ issuer: lab.vendor.issuer, subject: SUBJECT });
const check = async (way: Partial<Vendor>, more: Partial<CheckRequest> = {}, credentials?: VendorCredentials) => {
  const vendor = await lab.resolve(way);
  const request = { accessToken: ACCESS_TOKEN, hosts: keptOf(vendor).checkHosts, ...more };
  return lab.client.checkAccessToken(vendor, credentials ?? lab.vendor.credentials, request);
};
const says = (changes: object = {}): void =>
  void lab.vendor.answers.set("/token-info", { body: { ...soundIntrospection(NOW), ...changes } });

describe("by introspection", () => {
  it("a live token: scope, what is missing, seconds left and account", async () => {
    says();
    const found = {
      active: true,
      checkedBy: "introspection",
      scope: ["read"],
      missingScope: ["write", "admin"],
      expiresInSeconds: 60,
      account: ours(),
    };
    expect(await check(introspection(), { scope: ["read", "write", "admin"] })).toEqual(found);
    expect(lab.vendor.asked()).not.toContain("/me");
  });

  it("what the vendor does not say is absent", async () => {
    says({ sub: undefined, scope: undefined, exp: undefined, client_id: undefined });
    expect(await check(introspection(), { scope: ["read"] })).toEqual({ active: true, checkedBy: "introspection" });
    for (const exp of ["soon", (NOW + 60) * 1000]) {
      says({ scope: "", sub: "", exp });
      expect(await check(introspection(), { scope: ["read"] })).toEqual({ active: true, checkedBy: "introspection" });
    }
    for (const scope of [{}, false, 'a"b', ["a", null]]) {
      says({ scope, sub: undefined, exp: undefined });
      expect(await check(introspection(), { scope: ["read"] })).toEqual({ active: true, checkedBy: "introspection" });
    }
    says();
    expect(await check(introspection(), { scope: ["read"] })).not.toHaveProperty("missingScope");
  });

  it.each<[string, object]>([
    ["a token that is not active", { active: false }],
    ["a token whose time is over", { exp: NOW }],
  ])("rfc7662#2.2 %s is dead", async (_, members) => {
    says(members);
    expect(await check(introspection())).toEqual({ active: false, checkedBy: "introspection" });
  });

  it("active alone decides: a type or a binding of the vendor's own is no death", async () => {
    says({ token_type: "access_token", cnf: { jkt: "x" } });
    expect(await check(introspection())).toMatchObject({ active: true });
  });

  it("a token of another client, or of another account, is not of this connection", async () => {
    says({ client_id: "another-app" });
    await expect(check(introspection())).rejects.toMatchObject({
      code: "invalid_request",
      extras: { reason: "client_mismatch" },
    });
    says({ sub: "user-2" });
    await expect(check(introspection(), { account: ours() })).rejects.toMatchObject({
      code: "invalid_request",
      extras: { reason: "account_mismatch" },
    });
  });

  it("rfc7519#4.1.2 bar#UI-1 names no account by a subject of another issuer", async () => {
    for (const iss of [`${lab.vendor.issuer}/another`, "", 7]) {
      says({ iss });
      const { active, account: named } = await check(introspection());
      expect([active, named]).toEqual([true, undefined]);
    }
    for (const iss of [lab.vendor.issuer, null]) {
      says({ iss });
      expect((await check(introspection())).account).toEqual(ours());
    }
  });

  it("refused credentials are no dead token", async () => {
    lab.vendor.answers.set("/token-info", { status: 401, body: { error: "invalid_client" } });
    await expect(check(introspection())).rejects.toMatchObject({ code: "vendor_credentials_rejected" });
  });

  it("rfc7662#2.1 without a secret userinfo is asked instead", async () => {
    lab.vendor.answers.set("/me", { body: { sub: SUBJECT } });
    const publicClient: VendorCredentials = { id: "1", source: "byoc", clientId: CLIENT_ID };
    const found = { active: true, checkedBy: "userinfo", account: ours() };
    expect(await check(introspection(), {}, publicClient)).toEqual(found);
    expect(lab.vendor.asked()).not.toContain("/token-info");
  });
});

describe("by a check or an account of the vendor's own", () => {
  it("the check says scope and account, in the vendor's own names", async () => {
    lab.vendor.answers.set("/token-info", {
      body: { client_id: CLIENT_ID, user: { id: 42 }, scope: ["repo", "gist"] },
    });
    expect(await check(tokenCheck(), { scope: ["repo", "user"] })).toEqual({
      active: true,
      checkedBy: "introspection",
      scope: ["repo", "gist"],
      missingScope: ["user"],
      account: { issuer: lab.vendor.issuer, subject: "42" },
    });
    lab.vendor.answers.set("/token-info", { status: 404 });
    expect(await check(tokenCheck())).toEqual({ active: false, checkedBy: "introspection" });
  });

  it("the account says the scope in its header, and none where the header is absent or empty", async () => {
    const subject = { account: { issuer: lab.vendor.issuer, subject: "42" } };
    const me = (headers: Record<string, string>): void =>
      void lab.vendor.answers.set("/me", { headers, body: { id: 42 } });
    me({ "x-oauth-scopes": "repo, read:org" });
    const found = {
      active: true,
      checkedBy: "account",
      scope: ["repo", "read:org"],
      missingScope: ["gist"],
      ...subject,
    };
    expect(await check(account(), { scope: ["repo", "gist"] })).toEqual(found);
    for (const headers of [{}, { "x-oauth-scopes": "" }] satisfies Record<string, string>[]) {
      me(headers);
      expect(await check(account(), { scope: ["repo"] })).toEqual({ active: true, checkedBy: "account", ...subject });
    }
  });

  it("is not compared with a subject of OpenID Connect, and a success without an account is none", async () => {
    lab.vendor.answers.set("/me", { body: { id: 42 } });
    expect(await check(account(), { account: ours() })).toEqual({ active: true, checkedBy: "account" });
    lab.vendor.answers.set("/me", { body: {} });
    await expect(check(account())).rejects.toMatchObject({ extras: { reason: "identity_missing" } });
  });

  it("bar#UI-1 is the connection's if the same endpoint named that, which has no issuer", async () => {
    lab.vendor.answers.set("/me", { body: { id: 42 } });
    const found = { active: true, checkedBy: "account", account: { subject: "42" } };
    expect(await check(account(), { account: { subject: "42" } })).toEqual(found);
    await expect(check(account(), { account: { subject: "43" } })).rejects.toMatchObject({
      code: "invalid_request",
      extras: { reason: "account_mismatch" },
    });
    const named = { identity: { from: "token_response", members: ["team_id"] } } as const;
    const other = await check({ ...account(), ...named }, { account: { subject: "t-1" } });
    expect(other).toEqual({ active: true, checkedBy: "account" });
  });
});

describe("by userinfo", () => {
  it("bar#UI-1 names the account, which is the connection's", async () => {
    lab.vendor.answers.set("/me", { body: { sub: SUBJECT } });
    const found = { active: true, checkedBy: "userinfo", account: ours() };
    expect(await check(userinfo(), { account: ours(), scope: ["read"] })).toEqual(found);
    const foreign = check(userinfo(), { account: { subject: "user-2" } });
    await expect(foreign).rejects.toMatchObject({ code: "invalid_request", extras: { reason: "account_mismatch" } });
  });

  it("rfc6750#3.1 a 401 is a dead token, a 403 for a scope a live one", async () => {
    lab.vendor.answers.set("/me", { status: 401, headers: { "www-authenticate": 'Bearer error="invalid_token"' } });
    expect(await check(userinfo())).toEqual({ active: false, checkedBy: "userinfo" });
    const challenge = 'Bearer realm="x", error="insufficient_scope", scope="openid"';
    lab.vendor.answers.set("/me", { status: 403, headers: { "www-authenticate": challenge } });
    expect(await check(userinfo(), { scope: ["openid"] })).toEqual({ active: true, checkedBy: "userinfo" });
  });
});

describe("by an account call that the entry takes for userinfo", () => {
  const named = (): Partial<Vendor> => ({ ...userinfo(), issuesIdTokens: false });

  it("a success in names of its own says nothing, a refusal that the token is dead", async () => {
    for (const body of [
      { resource: { uri: "https://vendor.example/users/1" } },
      { error: "token_expired" },
      {},
      { sub: null },
    ]) {
      lab.vendor.answers.set("/me", { body });
      expect(await check(named())).toEqual({ active: null, checkedBy: "none" });
    }
    lab.vendor.answers.set("/me", { body: { sub: SUBJECT } });
    expect(await check(named())).toMatchObject({ active: true, checkedBy: "userinfo" });
    lab.vendor.answers.set("/me", { status: 401 });
    expect(await check(named())).toEqual({ active: false, checkedBy: "userinfo" });
  });

  it("oidc-core#5.3.2 of a vendor with ID tokens it breaks the contract", async () => {
    lab.vendor.answers.set("/me", { body: { name: "Ada" } });
    await expect(check(userinfo())).rejects.toMatchObject({ code: "vendor_response_invalid" });
  });
});

describe.each<[string, string, () => Partial<Vendor>]>([
  ["introspection", "/token-info", introspection],
  ["the vendor's own check", "/token-info", tokenCheck],
  ["the account", "/me", account],
  ["userinfo", "/me", userinfo],
])("%s that does not say", (_, path, way) => {
  it.each<[string, Answer, string]>([
    ["503", { status: 503 }, "temporarily_unavailable"],
    ["429", { status: 429, headers: { "retry-after": "7" } }, "temporarily_unavailable"],
    ["a cut connection", (response) => void response.destroy(), "temporarily_unavailable"],
    ["nothing", () => undefined, "temporarily_unavailable"],
    ["a redirect", { status: 302, headers: { location: "/elsewhere" } }, "vendor_response_invalid"],
    ["a page", { headers: { "content-type": "text/html" }, body: "<p>" }, "vendor_response_invalid"],
    ["a list", { body: [] }, "vendor_response_invalid"],
    ["too much", { body: { sub: "x".repeat(300_000) } }, "vendor_response_invalid"],
    ["a member twice", { body: '{"active":true,"active":false,"sub":"a","sub":"b"}' }, "vendor_response_invalid"],
    ["a 403 that names no scope", { status: 403, body: {} }, "vendor_response_invalid"],
  ])("is an error, never a dead token: %s", async (_what, answer, code) => {
    lab.vendor.answers.set(path, answer);
    const retryAfterSeconds = _what === "429" ? { retryAfterSeconds: 7 } : {};
    await expect(check(way())).rejects.toMatchObject({ code, ...retryAfterSeconds });
    expect(lab.vendor.asked()).not.toContain("/elsewhere");
  });
});

describe("bar#BY-4 the token goes to no host but those of the connection", () => {
  it("a way elsewhere is passed over for the next, and with none left nothing is sent", async () => {
    lab.vendor.answers.set("/me", { body: { sub: SUBJECT } });
    const { host } = new URL(lab.vendor.issuer);
    const elsewhere = { ...userinfo(), introspectionEndpoint: "https://elsewhere.example/introspect" };
    expect(await check(elsewhere, { hosts: [host] })).toMatchObject({ active: true, checkedBy: "userinfo" });
    const before = lab.vendor.received.length;
    const none = { active: null, checkedBy: "none" };
    expect(await check(introspection(), { hosts: ["vendor.example"] })).toEqual(none);
    expect(await check(introspection(), { hosts: [] })).toEqual(none);
    expect(lab.vendor.received).toHaveLength(before);
  });

  it("nor where the vendor has no way to ask", async () => {
    lab.vendor.describe({ userinfo_endpoint: undefined, introspection_endpoint: undefined });
    expect(await check({})).toEqual({ active: null, checkedBy: "none" });
  });

  it.each(["", "a b", "a\r\nx: y", "é", "x".repeat(16_385)])(
    "nor is a text sent that is no token",
    async (accessToken) => {
      await expect(check(introspection(), { accessToken })).rejects.toMatchObject({ code: "invalid_request" });
      expect(lab.vendor.asked()).not.toContain("/token-info");
    },
  );
});
