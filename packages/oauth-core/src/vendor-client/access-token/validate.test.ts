/** Whether the vendor confirms a presented token, and for which client it was issued. */
import { describe, expect, it } from "vitest";
import {
  ACCESS_TOKEN,
  CLIENT_ID,
  CLIENT_SECRET,
  soundIntrospection,
  SUBJECT,
} from "../../testing/network/faulty-vendor.ts";
import { labOfEachTest, NOW } from "../../testing/network/vendor-lab.ts";
import type { TokenCheck } from "../../registry/account.ts";
import type { Vendor, VendorCredentials } from "../../registry/vendor.ts";
import { lacksScopeForAccount } from "../userinfo/userinfo.ts";
import { isIssuedTo } from "./introspect.ts";
import { canValidateAccessToken } from "./validate.ts";

const lab = labOfEachTest();
const publicClient: VendorCredentials = { id: "1", source: "environment", clientId: CLIENT_ID };

type Way = () => Partial<Vendor>;
const at = (path: string): string => `${lab.vendor.issuer}${path}`;
const introspection: Way = () => ({ introspectionEndpoint: at("/token-info"), userinfoEndpoint: at("/me") });
const tokenCheck = (changes: Partial<TokenCheck> = {}): TokenCheck => ({
  endpoint: at("/token-info"),
  method: "POST",
  authentication: "basic",
  tokenParameter: "access_token",
  inactiveStatuses: [404],
  client: ["client_id", "azp"],
  identity: ["sub"],
  scope: "scope",
  expiry: { member: "exp", unit: "seconds" },
  ...changes,
});
const check = (changes: Partial<TokenCheck> = {}): Partial<Vendor> => ({ tokenCheck: tokenCheck(changes) });
const userinfo: Way = () => ({ userinfoEndpoint: at("/me") });

/** A token of any client. */
const validateForAnyClient = async (way: Partial<Vendor>) =>
  lab.client.validateAccessToken(await lab.resolve(way), ACCESS_TOKEN);
const validate = async (way: Partial<Vendor>, credentials: VendorCredentials | undefined = lab.vendor.credentials) =>
  lab.client.validateAccessToken(await lab.resolve(way), ACCESS_TOKEN, credentials);
const sound = (): object => ({ ...soundIntrospection(NOW), scope: "read write" });
const says = (changes: object = {}): void =>
  void lab.vendor.answers.set("/token-info", { body: { ...sound(), ...changes } });

const TELLING: readonly [string, Way][] = [
  ["introspection", introspection],
  ["the vendor's own check", () => check()],
];

const CLIENT_UNKNOWN = { code: "server_error", extras: { reason: "client_unknown" } };

describe.each(TELLING)("a token validated by %s", (_title, way) => {
  it("is valid, with its user, client, scope and expiry", async () => {
    says();
    const validation = {
      active: true,
      user: SUBJECT,
      clientId: CLIENT_ID,
      scope: ["read", "write"],
      expiresAt: NOW + 60,
    };
    expect(await validate(way())).toEqual(validation);
    expect(lab.vendor.asked().filter((path) => path === "/me")).toEqual([]);
  });

  it("of another client is not good here, whichever app obtained it", async () => {
    says({ client_id: "another-app" });
    expect(await validate(way())).toEqual({ active: false, reason: "other_client" });
  });

  it("that has expired is not valid, whatever the vendor says", async () => {
    says({ exp: NOW });
    expect(await validate(way())).toEqual({ active: false, reason: "expired" });
  });

  it("is of no user where the subject is an e-mail address", async () => {
    says({ sub: "ada@example.com" });
    await expect(validate(way())).rejects.toMatchObject({ extras: { reason: "identity_missing" } });
  });

  // Other responses that say nothing: check.test.ts.
  it("is not valid by a response that says nothing", async () => {
    lab.vendor.answers.set("/token-info", { body: {} });
    await expect(validate(way())).rejects.toMatchObject({ code: "vendor_response_invalid" });
  });

  it("reports that our own credentials are refused", async () => {
    lab.vendor.answers.set("/token-info", { status: 401, body: "" });
    await expect(validate(way())).rejects.toMatchObject({ code: "vendor_credentials_rejected" });
  });
});

it("rfc7519#4.1.2 a subject of another issuer is no user: the account says who it is", async () => {
  says({ iss: `${lab.vendor.issuer}/another` });
  lab.vendor.answers.set("/me", { body: { sub: "by-userinfo" } });
  expect(await validate(introspection())).toMatchObject({ user: "by-userinfo" });
});

describe("a vendor's own check", () => {
  it("is requested at our own URL, by Basic, with the token in the body", async () => {
    lab.vendor.answers.set(`/applications/${CLIENT_ID}/token`, { body: sound() });
    expect(await validate(check({ endpoint: at("/applications/{client_id}/token") }))).toMatchObject({ active: true });
    const asked = lab.vendor.received.at(-1);
    expect(JSON.parse(asked?.body ?? "")).toEqual({ access_token: ACCESS_TOKEN });
    expect(asked?.headers.authorization).toMatch(/^Basic /);
  });

  it("authenticates with the token itself where the entry says so, and needs no secret", async () => {
    says();
    const { tokenParameter: _none, ...bearer } = tokenCheck({ authentication: "bearer" });
    expect(await validate({ tokenCheck: bearer }, publicClient)).toMatchObject({ active: true, clientId: CLIENT_ID });
    expect(lab.vendor.received.at(-1)).toMatchObject({
      headers: { authorization: `Bearer ${ACCESS_TOKEN}` },
      body: "",
    });
  });

  it("is passed over without the secret it needs, where no client is expected", async () => {
    lab.vendor.answers.set("/me", { body: { sub: SUBJECT } });
    expect(await validateForAnyClient({ ...check(), ...userinfo() })).toEqual({ active: true, user: SUBJECT });
    await expect(validate({ ...check(), ...userinfo() }, publicClient)).rejects.toMatchObject(CLIENT_UNKNOWN);
  });

  it("refuses by its statuses", async () => {
    lab.vendor.answers.set("/token-info", { status: 404, body: "" });
    expect(await validate(check())).toEqual({ active: false, reason: "refused" });
  });

  it("names a client in each of its members that are there, the same in all, and in one at least", async () => {
    says({ azp: "another-app" });
    expect(await validate(check())).toEqual({ active: false, reason: "other_client" });
    for (const client_id of [undefined, 7]) {
      says({ client_id });
      await expect(validate(check())).rejects.toMatchObject({ code: "vendor_response_invalid" });
    }
  });

  it("falls back to the account where it names no user", async () => {
    lab.vendor.answers.set("/me", { body: { sub: "by-userinfo" } });
    says({ sub: undefined });
    expect(await validate({ ...check(), ...userinfo() })).toMatchObject({ user: "by-userinfo" });
    await expect(validate(check())).rejects.toMatchObject({ extras: { reason: "identity_missing" } });
  });
});

describe("a token validated by the account", () => {
  it("is valid where the account is returned, and its client is unknown", async () => {
    lab.vendor.answers.set("/me", { body: { sub: SUBJECT } });
    expect(await validateForAnyClient(userinfo())).toEqual({ active: true, user: SUBJECT });
    lab.vendor.answers.set("/me", { body: { id: 42 } });
    const account = { endpoint: at("/me"), method: "GET", identity: ["id"] } as const;
    expect(await validateForAnyClient({ account })).toEqual({ active: true, user: "42" });
  });

  it("names no client: if one is expected, it is not validated, and nothing is asked (#11)", async () => {
    lab.vendor.answers.set("/me", { body: { sub: SUBJECT } });
    for (const credentials of [lab.vendor.credentials, publicClient])
      await expect(validate(userinfo(), credentials)).rejects.toMatchObject(CLIENT_UNKNOWN);
    expect(lab.vendor.asked()).not.toContain("/me");
  });

  it("is not valid where the account is refused", async () => {
    lab.vendor.answers.set("/me", { status: 401 });
    expect(await validateForAnyClient(userinfo())).toEqual({ active: false, reason: "no_account" });
  });
});

it.each(["", " ", "a b", "a\r\nx: y", "ключ", "\u0000", "x".repeat(16_385)])(
  "rfc6750#2.1 a text that cannot be sent as a Bearer token is never sent to the vendor",
  async (token) => {
    const validation = await lab.client.validateAccessToken(await lab.resolve(userinfo()), token);
    expect(validation).toEqual({ active: false, reason: "malformed" });
    expect(lab.vendor.asked()).not.toContain("/me");
  },
);

it("canValidateAccessToken answers before the first token is presented", async () => {
  const can = async (changes: Partial<Vendor>, credentials: VendorCredentials | undefined): Promise<boolean> =>
    canValidateAccessToken(await lab.resolve(changes), credentials);
  const { credentials } = lab.vendor;
  expect(await can({}, credentials)).toBe(false);
  expect(await can(userinfo(), undefined)).toBe(true);
  expect(await can(userinfo(), credentials)).toBe(false);
  expect(await can({ ...check(), ...userinfo() }, publicClient)).toBe(false);
  expect(await can({ ...introspection() }, publicClient)).toBe(false);
  expect(await can({ introspectionEndpoint: at("/token-info") }, credentials)).toBe(true);
  expect(await can({ introspectionEndpoint: at("/token-info") }, publicClient)).toBe(false);
  expect(await can(check(), credentials)).toBe(true);
  expect(await can(check(), publicClient)).toBe(false);
  expect(await can({ introspectionEndpoint: at("/token-info"), identity: "unknown" }, credentials)).toBe(false);
  expect(await can({ ...introspection(), identity: "unknown" }, credentials)).toBe(true);
  await expect(validate({})).rejects.toMatchObject({ code: "server_error", extras: { reason: "account_unknown" } });
});

it("is found by metadata", async () => {
  lab.vendor.describe({ introspection_endpoint: at("/token-info") });
  says();
  expect(await validate({})).toMatchObject({ active: true, user: SUBJECT });
});

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

describe("the clients that a token names", () => {
  const ours: VendorCredentials = { ...publicClient, clientId: "ours" };

  it.each<[string, readonly string[], VendorCredentials | undefined, boolean]>([
    ["our client alone", ["ours", "ours"], ours, true],
    ["another client", ["another"], ours, false],
    ["ours and another", ["ours", "another"], ours, false],
    ["no client (#11)", [], ours, false],
    ["no client, where none is expected", [], undefined, true],
    ["another client, where none is expected", ["another"], undefined, true],
  ])("a token that names %s", (_what, clients, credentials, isOurs) => {
    expect(isIssuedTo(clients, credentials)).toBe(isOurs);
  });
});
