import { type JsonValue, OAuthError, Secret } from "@oauth-broker/oauth-core";
import { createEgress } from "@oauth-broker/oauth-core/egress";
import type { ResolvedVendor } from "@oauth-broker/oauth-core/registry";
import { expect, it } from "vitest";
import type { Caller } from "../../mode.ts";
import { testAuthenticate } from "../../testing/test-endpoint.ts";
import { ToolError } from "../../tool.ts";
import { createVendorApi, type VendorApiDeps } from "./vendor-api.ts";

const NEVER = new AbortController().signal;

/** @param answer the response of the vendor's API to a token */
async function apiOf(answer: (token: string, url: string) => Response | Error, options: Partial<VendorApiDeps> = {}) {
  const sent: { readonly url: string; readonly authorization: string | null }[] = [];
  const authenticate = testAuthenticate({
    alice: { vendorTokens: ["first", "second"] },
    bob: { vendorTokens: ["only"] },
  });
  const deps: VendorApiDeps = {
    vendor: async () => VENDOR,
    names: { id: "example", name: "Example" },
    apiHosts: ["api.example.com", ".example.net"],
    allowLoopback: false,
    fetch: async (input, init) => {
      const authorization = new Headers(init?.headers).get("authorization");
      sent.push({ url: String(input), authorization });
      const result = answer(authorization?.slice("Bearer ".length) ?? "", String(input));
      if (result instanceof Error) throw result;
      return result;
    },
    vendorClient: { account: async (_, token) => (token === "first" ? undefined : { id: 7 }) },
    ...options,
  };
  const as = async (user: string) => createVendorApi((await authenticate(user)) as Caller, NEVER, deps);
  return { alice: await as("alice"), bob: await as("bob"), sent, refusals: authenticate.refusals, deps };
}

const VENDOR = {
  authorizationEndpoint: "https://login.example.org/authorize",
  tokenEndpoint: "https://login.example.org/token",
} as ResolvedVendor;
const ok = () => new Response("[]");
const unauthorized = () => new Response("", { status: 401 });

it("sends the caller's token, whatever the tool puts into the header", async () => {
  const { alice, sent } = await apiOf(ok);
  await alice.fetch("https://api.example.com/a", { headers: { Authorization: "Bearer other" } });
  expect(sent).toEqual([{ url: "https://api.example.com/a", authorization: "Bearer first" }]);
});

it("asks once more with a renewed token, and no second time", async () => {
  const { alice, bob, sent, refusals } = await apiOf((token) => (token === "second" ? ok() : unauthorized()));
  expect((await alice.fetch("https://api.example.com/a")).status).toBe(200);
  await expect(bob.fetch("https://api.example.com/a")).rejects.toThrow(/connect Example again/);
  expect(sent).toHaveLength(3);
  expect(refusals).toEqual(["alice/0", "bob/0"]);
});

it("fails when the vendor refuses the renewed token too", async () => {
  const { alice, sent } = await apiOf(unauthorized);
  await expect(alice.fetch("https://api.example.com/a")).rejects.toBeInstanceOf(ToolError);
  expect(sent).toHaveLength(2);
});

it("renews for the account too", async () => {
  const { alice, bob, refusals } = await apiOf(ok);
  expect(await alice.account()).toEqual({ id: 7 });
  expect(await bob.account()).toEqual({ id: 7 });
  expect(refusals).toEqual(["alice/0"]);
});

it("leaves the token out of an account that repeats it: tools return it to the agent", async () => {
  const accountWith = async (token: string, account: Record<string, JsonValue>) => {
    const { deps } = await apiOf(ok, { vendorClient: { account: async () => account } });
    const alice = (await testAuthenticate({ alice: { vendorTokens: [token] } })("alice")) as Caller;
    return createVendorApi(alice, NEVER, deps).account();
  };
  const token = "vendor-token-of-alice";
  const account = { user_id: 7, token, links: [{ self: `https://api.example.com/?access_token=${token}` }], name: "A" };
  expect(await accountWith(token, account)).toEqual({ user_id: 7, links: [{}], name: "A" });
  expect(await accountWith("short", { token: "short", name: "shortly" })).toEqual({ name: "shortly" });
});

it.each([
  ["server_error", { reason: "account_unknown" }, "Example has no endpoint that describes its user's account"],
  ["temporarily_unavailable", {}, "Example cannot be reached now: try again in a moment"],
  ["vendor_response_invalid", {}, "Example answered in a way this server does not understand"],
] as const)("says in a sentence why there is no account: %s %j", async (code, extras, message) => {
  const account = async (): Promise<never> => {
    throw new OAuthError(code, "canary of the vendor", extras);
  };
  const { alice } = await apiOf(ok, { vendorClient: { account } });
  await expect(alice.account()).rejects.toMatchObject({ name: "ToolError", message });
});

it("bar#UI-1 asks for the account of the ID token's subject (#11)", async () => {
  const claims = Buffer.from(JSON.stringify({ iss: "https://login.example.org", sub: "ada" })).toString("base64url");
  const asked: unknown[] = [];
  const { deps } = await apiOf(ok, {
    vendorClient: {
      account: async (_, ...request) => {
        asked.push(request);
        return { sub: "ada" };
      },
    },
  });
  const alice = (await testAuthenticate({ alice: { vendorTokens: ["first"] } })("alice")) as Caller;
  const withIdToken: Caller = {
    ...alice,
    vendorToken: async () => ({ ...(await alice.vendorToken()), idToken: new Secret(`e30.${claims}.c2ln`) }),
  };
  for (const caller of [alice, withIdToken]) await createVendorApi(caller, NEVER, deps).account();
  expect(asked).toEqual([
    ["first", undefined],
    ["first", "ada"],
  ]);
});

it.each(["https://api.example.com/", "https://eu.example.net/x", "https://login.example.org/userinfo"])(
  "sends the token to %s",
  async (url) => {
    const { alice, sent } = await apiOf(ok);
    await alice.fetch(url);
    expect(sent).toHaveLength(1);
  },
);

it.each([
  "https://evil.example/",
  "https://api.example.com.evil.example/",
  "https://example.net/",
  "https://evilexample.net/",
  "http://api.example.com/",
  "https://api.example.com@evil.example/",
  "//api.example.com/",
  "file:///etc/passwd",
  "http://127.0.0.1/",
  "https://login.example.org:8443/",
  "javascript:alert(1)",
  "",
])("sends the token nowhere else: %s", async (url) => {
  const { alice, sent } = await apiOf(ok);
  await expect(alice.fetch(url)).rejects.toBeInstanceOf(ToolError);
  expect(sent).toEqual([]);
});

it("reports outages and dead grants to the model in words, and passes on every other error", async () => {
  const { alice } = await apiOf(() => new Error("connect ECONNREFUSED 10.0.0.1"));
  const failed = await alice.fetch("https://api.example.com/").catch((error: unknown) => error);
  expect(failed).toMatchObject({ name: "ToolError", message: "Example does not answer now: try again in a moment" });
  const { fetch, close } = createEgress({ allowLoopback: false, allowCidrs: [], timeoutMs: 1000 });
  const { alice: real } = await apiOf(ok, { fetch });
  const message = "The tool made a request that this server does not send";
  for (const [url, init] of [
    ["https://api.example.com/", { redirect: "follow" }],
    ["https://user:secret@api.example.com/", {}],
  ] as const) {
    await expect(real.fetch(url, init)).rejects.toMatchObject({ name: "ToolError", message });
  }
  await close();
  const { deps } = await apiOf(ok);
  const dead: Caller = {
    ...((await testAuthenticate({ eve: { vendorTokens: ["x"] } })("eve")) as Caller),
    vendorToken: async () => {
      throw new OAuthError("invalid_grant", "The user must authorize again");
    },
  };
  await expect(createVendorApi(dead, NEVER, deps).accessToken()).rejects.toThrow(/connect Example again/);
});
