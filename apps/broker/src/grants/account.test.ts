/**
 * The account that `connection` names when a vendor gives no ID token: the one of userinfo, if the
 * operator's file names the endpoint.
 */
import type { Vendor } from "@oauth-broker/oauth-core/registry";
import { newIdTokenKey, signIdToken } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import type { VendorConfig } from "../config.ts";
import { NOW, testBroker, testVendor } from "../testing/test-broker.ts";

const USERINFO = "https://api.acme.example/me";
const ISSUER_OF_VENDOR = "https://acme.example";
const HTML = { "content-type": "text/html" };
const TOKENS = { access_token: "canary-at", token_type: "bearer", refresh_token: "rt" };

interface Vendors {
  readonly vendor?: Partial<Vendor>;
  readonly entry?: Partial<VendorConfig>;
  /** The answer of userinfo. */
  readonly me?: (init: RequestInit | undefined) => Promise<Response>;
  /** Further members of the token answer. */
  readonly tokens?: () => object;
  readonly jwks?: object;
}

async function brokerOf({ vendor = {}, entry = {}, me, tokens = () => ({}), jwks }: Vendors = {}) {
  const known = testVendor({ userinfoEndpoint: USERINFO, ...vendor });
  const configured: VendorConfig = { ...known, accountBy: "userinfo", ...entry };
  const broker = await testBroker({
    config: { vendors: new Map([["acme", configured]]) },
    vendorAnswers: async (input, init) => {
      const url = String(input);
      if (url === USERINFO) return me === undefined ? Response.json({ sub: "u-1" }) : me(init);
      if (url === `${ISSUER_OF_VENDOR}/jwks`) return Response.json(jwks);
      return Response.json({ ...TOKENS, ...tokens() });
    },
  });
  const connect = async (form: Record<string, string> = {}) => {
    const { response, body, connection } = await broker.connect(form);
    const { vendor_client_id: id } = form;
    const byoc = id === undefined ? {} : { vendor_client_id: id };
    const shown = await broker.post("/v1/explain", { connection, ...byoc });
    return { status: response.status, body, connection, account: shown.body["account"] };
  };
  return { ...broker, connect, asked: () => broker.seen.filter(({ url }) => url === USERINFO) };
}

describe("a vendor that gives no ID token", () => {
  it("oidc-core#5.3.2 is asked once, with the access token, and connection names the account", async () => {
    const { connect, asked, refresh } = await brokerOf();
    const { status, connection, account } = await connect();
    expect([status, account]).toEqual([200, { issuer: null, subject: "u-1" }]);
    expect(asked().map(({ authorization }) => authorization)).toEqual([`Bearer ${TOKENS.access_token}`]);
    const refreshed = await refresh({ connection });
    expect(refreshed.body["connection"]).toBe(connection);
    expect(asked()).toHaveLength(1);
  });

  it("is asked too if tokens were parked, at the file's endpoint alone", async () => {
    const account = { endpoint: "https://api.acme.example/whoami", method: "GET", identity: ["id"] } as const;
    const { connect, seen } = await brokerOf({ vendor: { redeemAt: "callback", account } });
    expect((await connect()).account).toEqual({ issuer: null, subject: "u-1" });
    expect(seen.filter(({ url }) => url === account.endpoint)).toEqual([]);
  });

  it("is asked by the account that the file names, whose names for users are no issuer's", async () => {
    const account = { endpoint: USERINFO, method: "GET", member: "0", identity: ["team", "id"] } as const;
    const vendor = { userinfoEndpoint: undefined, issuer: ISSUER_OF_VENDOR, account } as unknown as Partial<Vendor>;
    const me = async (): Promise<Response> => Response.json([{ team: "t", id: 7 }]);
    const { connect, asked } = await brokerOf({ vendor, entry: { accountBy: "own" }, me });
    expect((await connect()).account).toEqual({ issuer: null, subject: "t:7" });
    expect(asked()).toHaveLength(1);
  });

  it("is shown by explain, but for the headers, which may hold a key of the operator's", async () => {
    const account = {
      endpoint: USERINFO,
      method: "GET",
      headers: { "x-key": "canary-key" },
      identity: ["id"],
    } as const;
    const revocation = {
      method: "DELETE",
      authentication: "basic",
      body: "json",
      tokenParameter: "token",
      ends: "grant",
      goneStatuses: [],
    } as const;
    const { post } = await brokerOf({ vendor: { account, revocation }, entry: { accountBy: "own" } });
    const { body } = await post("/v1/explain", { vendor: "acme" });
    expect(body).toMatchObject({
      vendor_account: { endpoint: USERINFO, method: "GET", identity: ["id"] },
      vendor_revocation: { method: "DELETE", ends: "grant" },
      sources: { account: "configuration", revocation: "configuration" },
    });
    expect(JSON.stringify(body)).not.toContain("canary-key");
  });

  it("is not asked where the file names a member of the token answer", async () => {
    const identity = { from: "token_response", members: ["team_id"] } as const;
    const tokens = () => ({ team_id: "t-1" });
    const { connect, asked } = await brokerOf({ vendor: { identity }, entry: { accountBy: "own" }, tokens });
    expect((await connect()).account).toEqual({ issuer: null, subject: "t-1" });
    expect(asked()).toEqual([]);
  });

  it.each<[string, Vendors, Record<string, string>]>([
    ["only the registry names its userinfo", { entry: { accountBy: undefined as never } }, {}],
    [
      "the tokens are of a host that a request named",
      {},
      { token_endpoint: "https://eu.acme.example/token", vendor_client_id: "mine" },
    ],
    [
      "a placeholder of the request fills their domain",
      {
        vendor: { tokenEndpoint: "https://{domain}.example/token" },
        entry: { placeholders: { domain: { pattern: "[a-z]{1,20}" } } },
      },
      { placeholders: '{"domain":"elsewhere"}', vendor_client_id: "mine" },
    ],
  ])("bar#BY-4 is not asked where %s", async (_, options, form) => {
    const { connect, asked } = await brokerOf(options);
    expect(await connect(form)).toMatchObject({ status: 200, account: undefined });
    expect(asked()).toEqual([]);
  });

  it.each<[string, () => Promise<Response>, string]>([
    ["is down", async () => new Response("no", { status: 500 }), "temporarily_unavailable"],
    ["refuses the token", async () => new Response("no", { status: 401 }), "identity_missing"],
    ["wants another scope", async () => new Response("no", { status: 403 }), "account_forbidden"],
    ["names no subject", async () => Response.json({ name: "U" }), "vendor_response_invalid"],
    ["names an address", async () => Response.json({ sub: "u@acme.example" }), "identity_missing"],
    ["is no JSON", async () => new Response("<p>", { headers: HTML }), "vendor_response_invalid"],
    ["breaks off", async () => Promise.reject(new Error("reset")), "temporarily_unavailable"],
  ])(
    "hands its tokens over where userinfo %s; connection names no account, and the log says so",
    async (_, me, why) => {
      const { connect, lines } = await brokerOf({ me });
      const { status, body, account } = await connect();
      expect([status, body["access_token"], account]).toEqual([200, TOKENS.access_token, undefined]);
      expect(lines.filter((line) => line.includes(`"warning":"userinfo: ${why}"`))).toHaveLength(1);
      expect(lines.join("")).not.toMatch(/canary-at|u@acme|reset/);
    },
  );

  it("hands the tokens over after 3 s when userinfo does not answer", async () => {
    const { connect } = await brokerOf({ me: () => new Promise<Response>(() => {}) });
    expect(await connect()).toMatchObject({ status: 200, account: undefined });
  });
});

describe("an ID token", () => {
  const key = newIdTokenKey("ES256", "1");
  const jwks = { keys: [key.publicJwk] };
  const idToken = (sub: string): Promise<string> =>
    signIdToken({ iss: ISSUER_OF_VENDOR, aud: "ours", sub, iat: NOW, exp: NOW + 600 }, key);
  const vendor = { issuer: ISSUER_OF_VENDOR, jwksUri: `${ISSUER_OF_VENDOR}/jwks` };

  it("names the account itself: userinfo is not asked", async () => {
    const tokens = { id_token: await idToken("u-2") };
    const { connect, asked } = await brokerOf({ vendor, jwks, tokens: () => tokens });
    expect(await connect()).toMatchObject({ status: 200, account: { issuer: ISSUER_OF_VENDOR, subject: "u-2" } });
    expect(asked()).toEqual([]);
  });

  it("bar#UI-1 bar#RF-6 in a refresh is of the account that userinfo named, or is refused", async () => {
    let later: object = {};
    const { connect, post } = await brokerOf({ vendor, jwks, tokens: () => later });
    const { connection, account } = await connect();
    expect(account).toEqual({ issuer: ISSUER_OF_VENDOR, subject: "u-1" });
    const refresh = async (token: string) =>
      (await post("/v1/token", { grant_type: "refresh_token", refresh_token: token, connection })).body;
    later = { id_token: await idToken("u-2") };
    expect(await refresh("rt")).toMatchObject({ error: "vendor_response_invalid", reason: "subject_mismatch" });
    later = { id_token: await idToken("u-1") };
    const { access_token } = TOKENS;
    expect(await refresh("rt-2")).toMatchObject({ access_token, vendor_id_token: expect.any(String) });
  });
});
