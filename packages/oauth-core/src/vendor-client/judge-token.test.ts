/** Whether the vendor stands by a token that somebody presents, and for which client it was made. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ACCESS_TOKEN, CLIENT_ID, CLIENT_SECRET, SUBJECT } from "../testing/faulty-vendor.ts";
import { type Lab, NOW, openLab } from "../testing/vendor-lab.ts";
import type { TokenCheck } from "../vendors/account.ts";
import type { Vendor, VendorCredentials } from "../vendors/vendor.ts";
import { canJudge } from "./judge-token.ts";

let lab: Lab;
let publicClient: VendorCredentials;
beforeEach(async () => {
  lab = await openLab({ timeoutMs: 300 });
  publicClient = { id: "1", source: "environment", clientId: CLIENT_ID };
});
afterEach(() => lab.close());

type Way = () => Partial<Vendor>;
const at = (path: string): string => `${lab.vendor.issuer}${path}`;
const introspection: Way = () => ({ introspectionEndpoint: at("/judge"), userinfoEndpoint: at("/me") });
const tokenCheck = (changes: Partial<TokenCheck> = {}): TokenCheck => ({
  endpoint: at("/judge"),
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

const judge = async (way: Partial<Vendor>, credentials: VendorCredentials | undefined = lab.vendor.credentials) =>
  lab.client.judgeToken(await lab.resolve(way), ACCESS_TOKEN, credentials);
const sound = (): Record<string, unknown> => ({
  active: true,
  token_type: "Bearer",
  client_id: CLIENT_ID,
  sub: SUBJECT,
  scope: "read write",
  exp: NOW + 60,
});
const says = (changes: object = {}): void =>
  void lab.vendor.answers.set("/judge", { body: { ...sound(), ...changes } });

const TELLING: readonly [string, Way][] = [
  ["introspection", introspection],
  ["the vendor's own check", () => check()],
];

describe.each(TELLING)("a token judged by %s", (_title, way) => {
  it("is good, and says whose, for which client, for what and until when", async () => {
    says();
    const verdict = { active: true, user: SUBJECT, clientId: CLIENT_ID, scope: ["read", "write"], expiresAt: NOW + 60 };
    expect(await judge(way())).toEqual(verdict);
    expect(lab.vendor.asked().filter((path) => path === "/me")).toEqual([]);
  });

  it("of another client is not good here, by whomever it was made", async () => {
    says({ client_id: "another-app" });
    expect(await judge(way())).toEqual({ active: false, reason: "other_client" });
  });

  it("that has run out is not good, whatever the vendor says", async () => {
    says({ exp: NOW });
    expect(await judge(way())).toEqual({ active: false, reason: "expired" });
  });

  it("is nobody's where the subject is an e-mail address", async () => {
    says({ sub: "ada@example.com" });
    await expect(judge(way())).rejects.toMatchObject({ extras: { reason: "identity_missing" } });
  });

  it.each<[string, Parameters<Lab["vendor"]["answers"]["set"]>[1]]>([
    ["500", { status: 500 }],
    ["429", { status: 429 }],
    ["nothing", () => undefined],
    ["a cut connection", (response) => void response.destroy()],
  ])("cannot be judged now by a vendor that answers %s", async (_answer, answer) => {
    lab.vendor.answers.set("/judge", answer);
    await expect(judge(way())).rejects.toMatchObject({ code: "temporarily_unavailable", status: 503 });
  });

  it.each<[string, Parameters<Lab["vendor"]["answers"]["set"]>[1]]>([
    ["HTML", { headers: { "content-type": "text/html" }, body: "<html>" }],
    ["a redirect", { status: 307, headers: { location: "https://elsewhere.example/" } }],
    ["403", { status: 403, body: {} }],
    ["nothing to say", { body: {} }],
    ["a member twice", { body: '{"active":true,"active":true}' }],
  ])("is not good by an answer that is %s", async (_answer, answer) => {
    lab.vendor.answers.set("/judge", answer);
    await expect(judge(way())).rejects.toMatchObject({ code: "vendor_response_invalid" });
  });

  it("tells that our own credentials are refused", async () => {
    lab.vendor.answers.set("/judge", { status: 401, body: "" });
    await expect(judge(way())).rejects.toMatchObject({ code: "vendor_credentials_rejected" });
  });
});

describe("introspection", () => {
  it("rfc7662#2.1 shows the token in the body and us by Basic", async () => {
    says();
    await judge({ ...introspection(), tokenRequestBody: "json", parameterNames: { token: "t" } });
    const [asked] = lab.vendor.received.filter(({ path }) => path === "/judge");
    expect(Object.fromEntries(asked?.form ?? [])).toEqual({ token: ACCESS_TOKEN, token_type_hint: "access_token" });
    const basic = Buffer.from(`${CLIENT_ID}:${CLIENT_SECRET}`).toString("base64");
    expect(asked?.headers.authorization).toBe(`Basic ${basic}`);
  });

  it("rfc7662#2.1 is not asked without a secret: then the account judges", async () => {
    says();
    lab.vendor.answers.set("/me", { body: { sub: SUBJECT } });
    expect(await judge(introspection(), publicClient)).toEqual({ active: true, user: SUBJECT });
    const nobody = await lab.client.judgeToken(await lab.resolve(introspection()), ACCESS_TOKEN);
    expect(nobody).toEqual({ active: true, user: SUBJECT });
    expect(lab.vendor.asked()).not.toContain("/judge");
  });

  it.each<[string, object]>([
    ["it is not active", { active: false }],
    ["it is none for Bearer", { token_type: "DPoP" }],
    ["it is a refresh token and says so", { token_type: "refresh_token" }],
    ["it is bound to a key", { cnf: { jkt: "x" } }],
    ["its time has not come", { nbf: NOW + 60 }],
  ])("rfc7662#2.2 refuses a token where %s", async (_title, members) => {
    says(members);
    expect(await judge(introspection())).toEqual({ active: false, reason: "refused" });
  });

  it.each(["unsupported_token_type", "invalid_token"])("refuses what the vendor calls %s", async (error) => {
    lab.vendor.answers.set("/judge", { status: 400, body: { error } });
    expect(await judge(introspection())).toEqual({ active: false, reason: "refused" });
  });

  it("rfc7662#2.2 wants a true or false", async () => {
    says({ active: "true" });
    await expect(judge(introspection())).rejects.toMatchObject({ code: "vendor_response_invalid" });
  });

  it("asks the account too where nobody, or no kind of token, is named", async () => {
    lab.vendor.answers.set("/me", { body: { sub: "by-userinfo" } });
    says({ sub: undefined });
    expect(await judge(introspection())).toMatchObject({ active: true, user: "by-userinfo", clientId: CLIENT_ID });
    says({ token_type: undefined });
    expect(await judge(introspection())).toMatchObject({ user: "by-userinfo" });
    lab.vendor.answers.set("/me", { status: 401 });
    expect(await judge(introspection())).toEqual({ active: false, reason: "no_account" });
    lab.vendor.answers.set("/me", { status: 403 });
    expect(await judge(introspection())).toEqual({ active: false, reason: "no_account" });
  });

  it("suffices where there is no account to ask, as long as it names somebody", async () => {
    const alone = { introspectionEndpoint: at("/judge") };
    says({ token_type: undefined, client_id: undefined, scope: undefined, exp: undefined });
    expect(await judge(alone)).toEqual({ active: true, user: SUBJECT });
    says({ sub: undefined, username: "ada" });
    await expect(judge(alone)).rejects.toMatchObject({ extras: { reason: "identity_missing" } });
  });
});

describe("a vendor's own check", () => {
  it("is asked at our own address, by Basic, with the token in the body", async () => {
    lab.vendor.answers.set(`/applications/${CLIENT_ID}/token`, { body: sound() });
    expect(await judge(check({ endpoint: at("/applications/{client_id}/token") }))).toMatchObject({ active: true });
    const asked = lab.vendor.received.at(-1);
    expect(JSON.parse(asked?.body ?? "")).toEqual({ access_token: ACCESS_TOKEN });
    expect(asked?.headers.authorization).toMatch(/^Basic /);
  });

  it("shows the token itself where it is asked by it, and no secret is needed", async () => {
    says();
    const { tokenParameter: _none, ...bearer } = tokenCheck({ authentication: "bearer" });
    expect(await judge({ tokenCheck: bearer }, publicClient)).toMatchObject({ active: true, clientId: CLIENT_ID });
    expect(lab.vendor.received.at(-1)).toMatchObject({
      headers: { authorization: `Bearer ${ACCESS_TOKEN}` },
      body: "",
    });
  });

  it("is passed over without the secret it needs", async () => {
    lab.vendor.answers.set("/me", { body: { sub: SUBJECT } });
    expect(await judge({ ...check(), ...userinfo() }, publicClient)).toEqual({ active: true, user: SUBJECT });
  });

  it("refuses by its statuses", async () => {
    lab.vendor.answers.set("/judge", { status: 404, body: "" });
    expect(await judge(check())).toEqual({ active: false, reason: "refused" });
  });

  it("names a client in each of its members that are there, the same in all, and in one at least", async () => {
    says({ azp: "another-app" });
    expect(await judge(check())).toEqual({ active: false, reason: "other_client" });
    for (const client_id of [undefined, 7]) {
      says({ client_id });
      await expect(judge(check())).rejects.toMatchObject({ code: "vendor_response_invalid" });
    }
  });

  it("leaves it to the account where it names nobody", async () => {
    lab.vendor.answers.set("/me", { body: { sub: "by-userinfo" } });
    says({ sub: undefined });
    expect(await judge({ ...check(), ...userinfo() })).toMatchObject({ user: "by-userinfo" });
    await expect(judge(check())).rejects.toMatchObject({ extras: { reason: "identity_missing" } });
  });
});

describe("a token judged by the account", () => {
  it("is good where the account is told, and of which client is not known", async () => {
    lab.vendor.answers.set("/me", { body: { sub: SUBJECT } });
    expect(await judge(userinfo())).toEqual({ active: true, user: SUBJECT });
    lab.vendor.answers.set("/me", { body: { id: 42 } });
    const account = { endpoint: at("/me"), method: "GET", identity: ["id"] } as const;
    expect(await judge({ account })).toEqual({ active: true, user: "42" });
  });

  it("is not good where it is refused", async () => {
    lab.vendor.answers.set("/me", { status: 401 });
    expect(await judge(userinfo())).toEqual({ active: false, reason: "no_account" });
  });

  it.each([["500", { status: 500 }] as const, ["nothing", () => undefined] as const])(
    "cannot be judged now by a vendor that answers %s",
    async (_title, answer) => {
      lab.vendor.answers.set("/me", answer);
      await expect(judge(userinfo())).rejects.toMatchObject({ code: "temporarily_unavailable" });
    },
  );
});

it.each(["", " ", "a b", "a\r\nx: y", "ключ", "\u0000", "x".repeat(16_385)])(
  "rfc6750#2.1 what cannot travel as a Bearer token is never shown to the vendor",
  async (token) => {
    const verdict = await lab.client.judgeToken(await lab.resolve(userinfo()), token, publicClient);
    expect(verdict).toEqual({ active: false, reason: "malformed" });
    expect(lab.vendor.asked()).not.toContain("/me");
  },
);

it("canJudge tells before the first token comes, and without a way no token is judged", async () => {
  const can = async (changes: Partial<Vendor>, credentials: VendorCredentials | undefined): Promise<boolean> =>
    canJudge(await lab.resolve(changes), credentials);
  const { credentials } = lab.vendor;
  expect(await can({}, credentials)).toBe(false);
  expect(await can(userinfo(), undefined)).toBe(true);
  expect(await can({ introspectionEndpoint: at("/judge") }, credentials)).toBe(true);
  expect(await can({ introspectionEndpoint: at("/judge") }, publicClient)).toBe(false);
  expect(await can(check(), credentials)).toBe(true);
  expect(await can(check(), publicClient)).toBe(false);
  expect(await can({ introspectionEndpoint: at("/judge"), identity: "unknown" }, credentials)).toBe(false);
  expect(await can({ ...introspection(), identity: "unknown" }, credentials)).toBe(true);
  await expect(judge({})).rejects.toMatchObject({ code: "server_error", extras: { reason: "account_unknown" } });
});

it("is found by metadata", async () => {
  lab.vendor.describe({ introspection_endpoint: at("/judge") });
  says();
  expect(await judge({})).toMatchObject({ active: true, user: SUBJECT });
});
