/** The token request is the one that oauth4webapi makes of the same parameters. */
import { systemTimer } from "../../mechanics/system-timer.ts";
import * as oauth from "oauth4webapi";
import { describe, expect, it } from "vitest";
import type { Fetch } from "../../ports.ts";
import { Secret } from "../../protocol/secret.ts";
import { fixedClock } from "../../testing/fixed-clock.ts";
import { defineVendor, type TokenEndpointAuthMethod, type VendorCredentials } from "../../registry/vendor.ts";
import { createVendorClient, type VendorClient } from "../index.ts";

const CODE = { code: "a b&c=d", redirectUri: "https://b.example/cb?x=y", codeVerifier: "v".repeat(43) };
const SECRET = "s:é +";
const METHODS: readonly TokenEndpointAuthMethod[] = ["none", "client_secret_post", "client_secret_basic"];
const credentials: VendorCredentials = {
  id: "1",
  source: "shared",
  clientId: "client",
  clientSecret: new Secret(SECRET),
};

interface Sent {
  readonly url: string;
  readonly method: string | undefined;
  readonly redirect: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly form: readonly (readonly [string, string])[];
}

function recorder(): { readonly sent: Sent[]; readonly fetch: Fetch } {
  const sent: Sent[] = [];
  const fetch: Fetch = async (url, { method, redirect, headers, body } = {}) => {
    if (!(body instanceof URLSearchParams)) throw new Error("not a form");
    const form = [...body].toSorted(([one], [other]) => (one < other ? -1 : 1));
    sent.push({ url: String(url), method, redirect, headers: Object.fromEntries(new Headers(headers)), form });
    return Response.json({ access_token: "a", token_type: "bearer" });
  };
  return { sent, fetch };
}

async function ask(
  endpoint: string,
  method: TokenEndpointAuthMethod,
  use: (client: VendorClient, ...vendor: Parameters<VendorClient["refreshTokens"]>) => Promise<unknown>,
  allowLoopback = false,
): Promise<Sent[]> {
  const { sent, fetch } = recorder();
  const client = createVendorClient({ fetch, timer: systemTimer, now: fixedClock(1_700_000_000), allowLoopback });
  const vendor = await client.resolve(
    defineVendor({
      id: "v",
      name: "V",
      authorizationEndpoint: "https://v.example/a",
      tokenEndpoint: endpoint,
      tokenEndpointAuthMethod: method,
    }),
  );
  await use(client, vendor, credentials, { refreshToken: "r t" });
  return sent;
}

/** The one difference: the library's type has a `charset`, ours has none (form-type.test.ts). */
const underBareType = (sent: readonly Sent[]): Sent[] =>
  sent.map((one) => ({ ...one, headers: { ...one.headers, "content-type": "application/x-www-form-urlencoded" } }));

const redeem: Parameters<typeof ask>[2] = (client, vendor) =>
  client.redeemCode(vendor, credentials, { ...CODE, scope: [], resource: "https://r.example/" });
const refresh: Parameters<typeof ask>[2] = (client, ...request) => client.refreshTokens(...request);

describe("a token request", () => {
  const library = (method: TokenEndpointAuthMethod) => {
    const { sent, fetch } = recorder();
    const options = { [oauth.customFetch]: fetch, headers: { "user-agent": "oauth-broker" } };
    const server = { issuer: "https://v.example", token_endpoint: "https://v.example" };
    const auth = { none: oauth.None(), client_secret_post: oauth.ClientSecretPost(SECRET) };
    return { sent, options, server, auth: method === "client_secret_basic" ? basic : auth[method] };
  };
  // Ours is the form encoding of the standard; the library escapes more (authentication.ts).
  const basic: oauth.ClientAuth = (_server, _client, _body, headers) =>
    headers.set("authorization", `Basic ${Buffer.from("client:s%3A%C3%A9+%2B").toString("base64")}`);
  const client = { client_id: "client" };

  it.each(METHODS)("rfc6749#4.1.3 for a code is the library's, with %s", async (method) => {
    const { sent, options, server, auth } = library(method);
    const parameters = new URLSearchParams({ code: CODE.code });
    const answer = oauth.validateAuthResponse(server, client, parameters, oauth.skipStateCheck);
    await oauth.authorizationCodeGrantRequest(server, client, auth, answer, CODE.redirectUri, CODE.codeVerifier, {
      ...options,
      additionalParameters: { resource: "https://r.example/" },
    });
    expect(await ask("https://v.example", method, redeem)).toEqual(underBareType(sent));
  });

  it.each(METHODS)("rfc6749#6 for a refresh token is the library's, with %s", async (method) => {
    const { sent, options, server, auth } = library(method);
    await oauth.refreshTokenGrantRequest(server, client, auth, "r t", options);
    expect(await ask("https://v.example", method, refresh)).toEqual(underBareType(sent));
  });

  it.each(["http://v.example/t", "http://127.0.0.1:1/t", "ftp://v.example/t"])("goes to no %s", async (endpoint) => {
    for (const use of [redeem, refresh]) {
      await expect(ask(endpoint, "none", use)).rejects.toMatchObject({ code: "vendor_response_invalid" });
      if (!endpoint.includes("127.0.0.1")) {
        await expect(ask(endpoint, "none", use, true)).rejects.toMatchObject({ code: "vendor_response_invalid" });
      }
    }
  });

  it("goes to http on loopback where that is permitted", async () => {
    expect(await ask("http://127.0.0.1:1/t", "none", refresh, true)).toHaveLength(1);
  });

  it("has no empty parameter", async () => {
    const empty: Parameters<typeof ask>[2] = (one, vendor) =>
      one.refreshTokens(vendor, credentials, { refreshToken: "" });
    await expect(ask("https://v.example", "none", empty)).rejects.toThrow(TypeError);
  });
});
