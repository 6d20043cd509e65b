/** What introspection reports, and how it is read. */
import { describe, expect, it } from "vitest";
import {
  ACCESS_TOKEN,
  CLIENT_ID,
  CLIENT_SECRET,
  SUBJECT,
  soundIntrospection,
} from "../../testing/network/faulty-vendor.ts";
import { labOfEachTest, NOW } from "../../testing/network/vendor-lab.ts";
import { lacksScopeForAccount } from "../userinfo/userinfo.ts";
import type { Vendor, VendorCredentials } from "../../registry/vendor.ts";

const lab = labOfEachTest();

const publicClient: VendorCredentials = { id: "1", source: "environment", clientId: CLIENT_ID };
const at = (path: string): string => `${lab.vendor.issuer}${path}`;
const introspection = (): Partial<Vendor> => ({
  introspectionEndpoint: at("/token-info"),
  userinfoEndpoint: at("/me"),
});
const validate = async (way: Partial<Vendor>, credentials: VendorCredentials = lab.vendor.credentials) =>
  lab.client.validateAccessToken(await lab.resolve(way), ACCESS_TOKEN, credentials);
const says = (changes: object = {}): void =>
  void lab.vendor.answers.set("/token-info", { body: { ...soundIntrospection(NOW), ...changes } });

describe("introspection", () => {
  it("rfc7662#2.1 sends the token in the body and our credentials by Basic", async () => {
    says();
    await validate({ ...introspection(), tokenRequestBody: "json", parameterNames: { token: "t" } });
    const [asked] = lab.vendor.received.filter(({ path }) => path === "/token-info");
    expect(Object.fromEntries(asked?.form ?? [])).toEqual({ token: ACCESS_TOKEN, token_type_hint: "access_token" });
    const basic = Buffer.from(`${CLIENT_ID}:${CLIENT_SECRET}`).toString("base64");
    expect(asked?.headers.authorization).toBe(`Basic ${basic}`);
  });

  it("rfc7662#2.1 is not asked without a secret: the account decides if no client is expected", async () => {
    says();
    lab.vendor.answers.set("/me", { body: { sub: SUBJECT } });
    await expect(validate(introspection(), publicClient)).rejects.toMatchObject({
      extras: { reason: "client_unknown" },
    });
    const ofAnyClient = await lab.client.validateAccessToken(await lab.resolve(introspection()), ACCESS_TOKEN);
    expect(ofAnyClient).toEqual({ active: true, user: SUBJECT });
    expect(lab.vendor.asked()).not.toContain("/token-info");
  });

  it.each<[string, object]>([
    ["it is not active", { active: false }],
    ["it is not a Bearer token", { token_type: "DPoP" }],
    ["it is a refresh token and says so", { token_type: "refresh_token" }],
    ["it is bound to a key", { cnf: { jkt: "x" } }],
    ["its time has not come", { nbf: NOW + 60 }],
  ])("rfc7662#2.2 refuses a token where %s", async (_title, members) => {
    says(members);
    expect(await validate(introspection())).toEqual({ active: false, reason: "refused" });
  });

  it.each(["unsupported_token_type", "invalid_token", "InvalidToken"])(
    "refuses what the vendor calls %s",
    async (error) => {
      lab.vendor.answers.set("/token-info", { status: 400, body: { error } });
      expect(await validate(introspection())).toEqual({ active: false, reason: "refused" });
    },
  );

  it("rfc7662#2.2 requires active to be true or false", async () => {
    says({ active: "true" });
    await expect(validate(introspection())).rejects.toMatchObject({ code: "vendor_response_invalid" });
  });

  it("asks the account too where no user, or no kind of token, is named", async () => {
    lab.vendor.answers.set("/me", { body: { sub: "by-userinfo" } });
    says({ sub: undefined });
    expect(await validate(introspection())).toMatchObject({ active: true, user: "by-userinfo", clientId: CLIENT_ID });
    says({ token_type: undefined });
    expect(await validate(introspection())).toMatchObject({ user: "by-userinfo" });
    lab.vendor.answers.set("/me", { status: 401 });
    expect(await validate(introspection())).toEqual({ active: false, reason: "no_account" });
  });

  it("rfc6750#3.1 decides nothing if the account is forbidden: the token is good otherwise", async () => {
    says({ sub: undefined });
    lab.vendor.answers.set("/me", { status: 403, body: { message: "Resource not accessible" } });
    const forbidden = { code: "vendor_response_invalid", extras: { reason: "account_forbidden" } };
    await expect(validate(introspection())).rejects.toMatchObject(forbidden);
    lab.vendor.answers.set("/me", {
      status: 403,
      headers: { "www-authenticate": 'Bearer error="insufficient_scope"' },
    });
    await expect(validate(introspection())).rejects.toSatisfy(lacksScopeForAccount);
  });

  it("suffices where there is no account to ask, as long as it names a user", async () => {
    const alone = { introspectionEndpoint: at("/token-info") };
    says({ token_type: undefined, scope: undefined, exp: undefined });
    expect(await validate(alone)).toEqual({ active: true, user: SUBJECT, clientId: CLIENT_ID });
    says({ sub: undefined, username: "ada" });
    await expect(validate(alone)).rejects.toMatchObject({ extras: { reason: "identity_missing" } });
  });

  it("that names no client counts as one for another client (#11)", async () => {
    says({ client_id: undefined });
    expect(await validate(introspection())).toEqual({ active: false, reason: "other_client" });
  });
});
