/**
 * A user's identity at each simulated vendor, by the entry's own recipe: the same after two
 * connections, different from the next user's, never an e-mail address; and the result for a token
 * of another app.
 */
import { Secret, systemTimer } from "@oauth-broker/oauth-core";
import {
  canIdentify,
  canValidateAccessToken,
  keptOf,
  createVendorClient,
} from "@oauth-broker/oauth-core/vendor-client";
import { createCodeVerifier, deriveCodeChallenge, randomToken } from "@oauth-broker/oauth-core/protocol";
import {
  defineVendor,
  REGISTRY,
  type ResolvedVendor,
  type VendorCredentials,
  type VendorTokens,
} from "@oauth-broker/oauth-core/registry";
import { describe, expect, it, onTestFinished } from "vitest";
import { machineClock } from "../clock.ts";
import { driveConsent } from "../drive-consent.ts";
import { atEndpoints } from "../fixtures/at-endpoints.ts";
import { startOpenIdProvider } from "../openid-provider.ts";
import { SIMULATORS } from "../testing/replay-fixture.ts";
import { ACCOUNTS, type AccountId } from "../pages.ts";

const REDIRECT_URI = "http://127.0.0.1:9/callback";
const SECRET = "secret-of-the-app";
const OURS = credentialsOf("our-app");
const THEIRS = credentialsOf("another-app");

const client = createVendorClient({ fetch, timer: systemTimer, now: machineClock, allowLoopback: true });

function credentialsOf(clientId: string): VendorCredentials {
  return { id: clientId, source: "environment", clientId, clientSecret: new Secret(SECRET) };
}

interface Harness {
  readonly vendor: ResolvedVendor;
  readonly resource?: string;
}

/** With both apps, and closed after the test. */
async function harnessOf(id: string): Promise<Harness> {
  const { simulator, resource } = await SIMULATORS[id]!();
  onTestFinished(() => simulator.close());
  for (const { clientId } of [OURS, THEIRS]) {
    simulator.addClient({ clientId, clientSecret: SECRET, redirectUris: [REDIRECT_URI] });
  }
  const vendor = await client.resolve(atEndpoints(REGISTRY.get(id)!.vendor, simulator.endpoints));
  return { vendor, ...(resource === undefined ? {} : { resource }) };
}

async function connect(
  { vendor, resource }: Harness,
  { account = "user", credentials = OURS }: { account?: AccountId; credentials?: VendorCredentials } = {},
): Promise<VendorTokens> {
  const codeVerifier = createCodeVerifier();
  const isIdTokenDue = vendor.defaultScopes.includes("openid");
  const bound = {
    redirectUri: REDIRECT_URI,
    scope: vendor.defaultScopes,
    ...(isIdTokenDue ? { nonce: randomToken(32) } : {}),
    ...(resource === undefined ? {} : { resource }),
  };
  const url = client.authorizationUrl(vendor, {
    ...bound,
    clientId: credentials.clientId,
    state: randomToken(32),
    codeChallenge: deriveCodeChallenge(codeVerifier),
  });
  const callback = await driveConsent(url, { account, stopAt: ({ port }) => port === "9" });
  const code = callback.searchParams.get("code") ?? "";
  return client.redeemCode(vendor, credentials, { ...bound, code, codeVerifier });
}

const KNOWN = ["github", "slack", "atlassian", "google-workspace", "microsoft-agent365"];
const UNKNOWN = ["linear", "notion"];
const VALIDATED = ["github", "slack", "atlassian", "google-workspace"];
const PINNED = ["github", "google-workspace"];
/**
 * Whether tokens must be issued to our client, where the vendor reports it; else no client is
 * expected.
 */
const expectedAt = (id: string): VendorCredentials | undefined => (PINNED.includes(id) ? OURS : undefined);

it("every simulated vendor is one of those below", () => {
  expect([...KNOWN, ...UNKNOWN].toSorted()).toEqual(Object.keys(SIMULATORS).toSorted());
});

describe.each(KNOWN)("a user at %s", (id) => {
  it("is the same after two connections and by another app, and another than the next user", async () => {
    const harness = await harnessOf(id);
    const { vendor } = harness;
    expect([canIdentify(vendor), canValidateAccessToken(vendor, OURS)]).toEqual([true, PINNED.includes(id)]);
    const first = await client.identify(vendor, await connect(harness));
    const again = await client.identify(vendor, await connect(harness));
    const other = await client.identify(vendor, await connect(harness, { account: "operator" }));
    expect(again).toBe(first);
    expect(other).not.toBe(first);
    for (const { email, name } of ACCOUNTS) expect([first, other].join()).not.toMatch(new RegExp(`${email}|${name}`));
    expect(await client.identify(vendor, await connect(harness, { credentials: THEIRS }))).toBe(first);
  });
});

describe.each(VALIDATED)("a token of %s", (id) => {
  it("is valid, and of the person its connection was for", async () => {
    const harness = await harnessOf(id);
    const { vendor } = harness;
    const tokens = await connect(harness);
    const user = await client.identify(vendor, tokens);
    expect(canValidateAccessToken(vendor, expectedAt(id))).toBe(true);
    expect(await client.validateAccessToken(vendor, tokens.accessToken, expectedAt(id))).toMatchObject({
      active: true,
      user,
    });
    expect(await client.account(vendor, tokens.accessToken)).toBeDefined();
  });

  it("is not valid when it was never issued, when it is a refresh token, and once it is revoked", async () => {
    const harness = await harnessOf(id);
    const { vendor } = harness;
    const { accessToken, refreshToken } = await connect(harness);
    const expected = expectedAt(id);
    expect(await client.validateAccessToken(vendor, "made-up", expected)).toMatchObject({ active: false });
    expect(await client.account(vendor, "made-up")).toBeUndefined();
    if (refreshToken !== undefined)
      expect(await client.validateAccessToken(vendor, refreshToken, expected)).toMatchObject({ active: false });
    if (id === "atlassian") return;
    await client.revokeToken(vendor, OURS, { token: accessToken, tokenTypeHint: "access_token" });
    expect(await client.validateAccessToken(vendor, accessToken, expected)).toMatchObject({ active: false });
    expect(await client.account(vendor, accessToken)).toBeUndefined();
  });
});

describe.each(PINNED)("a token that another app got at %s", (id) => {
  it("is not good here, and is known to be that app's", async () => {
    const harness = await harnessOf(id);
    const { vendor } = harness;
    const { accessToken } = await connect(harness, { credentials: THEIRS });
    expect(await client.validateAccessToken(vendor, accessToken, OURS)).toMatchObject({ active: false });
    expect(await client.validateAccessToken(vendor, accessToken, THEIRS)).toMatchObject({
      active: true,
      clientId: "another-app",
    });
  });
});

it("GitHub's account names no app: it is enough if no client is expected", async () => {
  const { vendor, ...harness } = await harnessOf("github");
  const { accessToken } = await connect({ vendor, ...harness }, { credentials: THEIRS });
  expect(await client.validateAccessToken(vendor, accessToken, undefined)).toEqual({ active: true, user: "1" });
  const { clientSecret: _none, ...withoutSecret } = OURS;
  expect(canValidateAccessToken(vendor, withoutSecret)).toBe(false);
  const unknown = { extras: { reason: "client_unknown" } };
  await expect(client.validateAccessToken(vendor, accessToken, withoutSecret)).rejects.toMatchObject(unknown);
});

/** How each vendor says whether a token is good; the rest have no way at all. */
const CHECKED: Readonly<Record<string, string>> = {
  github: "introspection",
  slack: "account",
  atlassian: "account",
  "google-workspace": "introspection",
  notion: "introspection",
};

describe.each(Object.keys(SIMULATORS))("a connection to %s", (id) => {
  it("is checked in the vendor's own way, by its scopes where the vendor names them", async () => {
    const harness = await harnessOf(id);
    const { vendor } = harness;
    const { accessToken, idToken } = await connect(harness);
    const account = idToken === undefined ? {} : { account: { issuer: idToken.issuer, subject: idToken.subject } };
    const check = async (token: string) =>
      client.checkAccessToken(vendor, OURS, {
        accessToken: token,
        hosts: keptOf(vendor).checkHosts,
        scope: ["another-scope"],
        ...account,
      });
    const checkedBy = CHECKED[id] ?? "none";
    const found = await check(accessToken);
    expect(found).toMatchObject({ active: checkedBy === "none" ? null : true, checkedBy });
    const namesScopes = ["github", "slack", "google-workspace", "notion"].includes(id);
    expect(found.missingScope).toEqual(namesScopes ? ["another-scope"] : undefined);
    if (namesScopes) expect(found.scope).toEqual(expect.arrayContaining([...vendor.defaultScopes]));
    expect(await check("made-up")).toEqual({ active: checkedBy === "none" ? null : false, checkedBy });
  });
});

it("a GitHub client without a secret is told the scopes by the account", async () => {
  const harness = await harnessOf("github");
  const { vendor } = harness;
  const { accessToken } = await connect(harness);
  const { clientSecret: _none, ...withoutSecret } = OURS;
  const request = { accessToken, hosts: keptOf(vendor).checkHosts, scope: ["repo"] };
  expect(await client.checkAccessToken(vendor, withoutSecret, request)).toEqual({
    active: true,
    checkedBy: "account",
    scope: ["read:user"],
    missingScope: ["repo"],
    account: { issuer: vendor.issuer, subject: "1" },
  });
});

describe.each(UNKNOWN)("a user at %s", (id) => {
  it("is unknown: the registry states no identity", async () => {
    const harness = await harnessOf(id);
    const { vendor } = harness;
    expect([canIdentify(vendor), canValidateAccessToken(vendor, OURS)]).toEqual([false, false]);
    await expect(client.identify(vendor, await connect(harness))).rejects.toMatchObject({
      extras: { reason: "identity_missing" },
    });
  });
});

it("the OpenID provider identifies the user by ID token, introspection and userinfo alike", async () => {
  const clients = [OURS, THEIRS].map(({ clientId }) => ({
    clientId,
    clientSecret: SECRET,
    redirectUris: [REDIRECT_URI],
  }));
  const provider = await startOpenIdProvider({ clients });
  onTestFinished(() => provider.close());
  const scopes = { defaultScopes: ["openid", "email"] };
  const vendor = await client.resolve(defineVendor({ id: "sandbox", name: "S", issuer: provider.issuer, ...scopes }));
  const tokens = await connect({ vendor });
  expect(await client.identify(vendor, tokens)).toBe("user");
  expect(await client.validateAccessToken(vendor, tokens.accessToken, OURS)).toMatchObject({
    active: true,
    user: "user",
    clientId: "our-app",
    scope: ["openid", "email"],
  });
  expect(await client.validateAccessToken(vendor, tokens.accessToken)).toEqual({ active: true, user: "user" });
  expect(await client.validateAccessToken(vendor, tokens.accessToken, THEIRS)).toMatchObject({ active: false });
  expect(await client.validateAccessToken(vendor, tokens.refreshToken ?? "", OURS)).toMatchObject({ active: false });
  expect(await client.validateAccessToken(vendor, tokens.idToken?.raw ?? "", OURS)).toMatchObject({ active: false });
  const request = { accessToken: tokens.accessToken, hosts: keptOf(vendor).checkHosts, scope: ["email", "api:read"] };
  const account = { issuer: provider.issuer, subject: "user" };
  expect(await client.checkAccessToken(vendor, OURS, request)).toMatchObject({
    active: true,
    checkedBy: "introspection",
    missingScope: ["api:read"],
    account,
  });
  const { clientSecret: _none, ...withoutSecret } = OURS;
  const byUserinfo = { active: true, checkedBy: "userinfo", account };
  expect(await client.checkAccessToken(vendor, withoutSecret, request)).toEqual(byUserinfo);
  await client.revokeToken(vendor, OURS, { token: tokens.accessToken, tokenTypeHint: "access_token" });
  expect(await client.checkAccessToken(vendor, withoutSecret, request)).toEqual({
    active: false,
    checkedBy: "userinfo",
  });
});
