import { describe, expect, it } from "vitest";
import type { StartRequest } from "../types.ts";
import { CREDENTIALS as credentials, directClient, VENDOR } from "../testing/direct-client.ts";
import { REDIRECT_URI as redirectUri } from "../testing/fake-broker.ts";
import { type DirectOptions, directVendor, type Vendor } from "./index.ts";

const unreachable = async (): Promise<Response> => {
  throw new Error("nothing is to be asked");
};

const make = (vendor: DirectOptions["vendor"], more: Partial<DirectOptions> = {}) =>
  directClient({ vendor, fetch: unreachable, ...more });

const invalid = { code: "invalid_request" };
const own: Vendor = { ...VENDOR, issuer: "https://vendor.example", defaultScopes: ["openid", "read"] };

async function parametersOf(request: StartRequest, changes: object = {}): Promise<Record<string, string>> {
  const { url } = await make({ ...own, issuesIdTokens: true, ...changes }).start(request);
  return Object.fromEntries(new URL(url).searchParams);
}

describe("the vendor of a direct client", () => {
  it.each([
    ["pushed_requests_required", { require_pushed_authorization_requests: true }],
    // Its users' callbacks are called by GET.
    ["response_mode_not_supported", { response_modes_supported: ["form_post"] }],
  ])(
    "bar#DI-1 is refused at the start where its metadata demands what is not done here: %s",
    async (reason, demand) => {
      const issuer = "https://vendor.example";
      const endpoints = { authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token` };
      const client = make({ issuer }, { fetch: async () => Response.json({ issuer, ...endpoints, ...demand }) });
      const refused = { code: "vendor_response_invalid", details: { reason } };
      await expect(client.start({ scope: "read" })).rejects.toMatchObject(refused);
    },
  );

  it("is one of the registry, by its id", async () => {
    const { url, session } = await make("github").start({ vendor: "github", scope: "repo" });
    const { origin, searchParams } = new URL(url);
    expect(origin).toBe("https://github.com");
    const sent = { client_id: "deployment", redirect_uri: redirectUri, state: session.state };
    expect(Object.fromEntries(searchParams)).toMatchObject(sent);
  });

  it("is refused when the registry lacks it, has it off, or it requires signed secrets", () => {
    expect(() => make("no-such-vendor")).toThrow("is not a vendor of the registry");
    expect(() => make("wechat")).toThrow("wechat is off in the registry: takes token requests in the query");
    const signed = { form: { alg: "ES256" } };
    expect(() => make({ ...own, clientSecret: signed as never })).toThrow("signed for each request");
    const account = { endpoint: "https://vendor.example/me", method: "GET", token: { in: "path" } } as const;
    expect(() => make({ ...own, account })).toThrow("The account of own is without {access_token}");
  });

  it("rfc6749#3.1.2 is not asked for a client that has no id, an empty secret or no redirect URI", () => {
    for (const clientId of ["", undefined]) {
      expect(() => make(own, { credentials: { clientId: clientId! } })).toThrow("clientId is missing");
    }
    expect(() => make(own, { credentials: { clientId: "app", clientSecret: "" } })).toThrow("secret is empty");
    for (const uri of ["", undefined, "not a url", "/oauth/callback", `${redirectUri}#fragment`]) {
      expect(() => make(own, { redirectUri: uri! })).toThrow("redirectUri must be");
    }
  });

  it.each(["", null])("rfc6749#3.1 takes an empty parameter for an absent one: %j", async (none) => {
    const empty = { vendor: none, scope: none, loginHint: none, prompt: none, resource: none } as object;
    const { state: _, nonce: __, code_challenge: ___, ...sent } = await parametersOf(empty);
    const { state: ____, nonce: _____, code_challenge: ______, ...absent } = await parametersOf({});
    expect(sent).toEqual(absent);
    expect(sent["scope"]).toBe("openid read");
  });

  it("is refused without opening anything, for settings to be checked", () => {
    const unusable = expect.objectContaining({ code: "invalid_request", extras: { reason: "vendor_unusable" } });
    for (const vendor of ["no-such-vendor", "wechat", "apple"]) {
      expect(() => directVendor({ vendor, credentials })).toThrow(unusable);
    }
    expect(() => directVendor({ vendor: "kinde", credentials })).toThrow("placeholder subdomain is missing");
  });

  it("gets the values that its endpoints want, and none that do not fit", async () => {
    const { url } = await make("kinde", { placeholders: { subdomain: "one" } }).start({});
    expect(new URL(url).host).toBe("one.kinde.com");
    for (const placeholders of [{ subdomain: "a.b" }, { subdomain: "one", no: "such" }, {}]) {
      expect(() => make("kinde", { placeholders })).toThrow(expect.objectContaining(invalid));
    }
  });

  it("gets the caller's request parameters, and PKCE and nonce of its own", async () => {
    const same = { scope: "openid read", prompt: "consent", resource: "https://api.example/" };
    const vendorParams = { team: "T1" };
    expect(await parametersOf({ ...same, loginHint: "someone", vendorParams })).toMatchObject({
      ...same,
      ...vendorParams,
      response_type: "code",
      login_hint: "someone",
      code_challenge_method: "S256",
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect(await parametersOf({})).toMatchObject({ scope: "openid read" });
  });

  it("bar#VR-1 has PKCE as it can: S256, plain, or none", async () => {
    const plain = make({ ...own, pkce: "plain" });
    const { url, session } = await plain.start({});
    expect(new URL(url).searchParams.get("code_challenge")).toBe(session.codeVerifier);
    const none = await make({ ...own, pkce: "none" }).start({});
    expect(none.session).not.toHaveProperty("codeVerifier");
    expect(none.url).not.toContain("code_challenge");
  });

  it("bar#VR-3 gets a nonce where an ID token is due, and only there", async () => {
    expect(await parametersOf({ scope: "read" })).not.toHaveProperty("nonce");
    expect(await parametersOf({ scope: "openid" }, { issuesIdTokens: false })).not.toHaveProperty("nonce");
  });

  it("bar#ST-4 gets no parameter of ours from the caller", async () => {
    await expect(make(own).start({ vendorParams: { redirect_uri: "https://x.example" } })).rejects.toMatchObject(
      invalid,
    );
  });

  it.each<StartRequest>([
    { vendor: "github" },
    { byoc: { clientId: "x" } },
    { issuer: "https://other.example" },
    { endpoints: { tokenEndpoint: "https://other.example/token" } },
    { placeholders: { tenant: "x" } },
  ])("is not changed by a request: %j", async (request) => {
    await expect(make(own).start(request)).rejects.toMatchObject(invalid);
    await expect(make(own).refresh({ ...request, refreshToken: "x" })).rejects.toMatchObject(invalid);
    await expect(make(own).revoke({ ...request, token: "x" })).rejects.toMatchObject(invalid);
  });
});

describe("endpoints of the caller's own", () => {
  const at = (host: string): { authorizationEndpoint: string; tokenEndpoint: string } => ({
    authorizationEndpoint: `https://${host}/oauth/authorize`,
    tokenEndpoint: `https://${host}/oauth/token`,
  });
  const locate = (vendor: DirectOptions["vendor"], more: Partial<DirectOptions>) =>
    directVendor({ vendor, credentials, ...more }).vendor;

  it("replace the registry's, and are filled by the entry's rules and by names of their own", () => {
    const tokenEndpoint = "https://login.microsoftonline.com/{tenant}/oauth2/{version}/token";
    const options = { endpoints: { tokenEndpoint }, placeholders: { version: "v2.0" } };
    expect(locate("microsoft-agent365", options)).toMatchObject({
      authorizationEndpoint: "https://login.microsoftonline.com/organizations/oauth2/v2.0/authorize",
      tokenEndpoint: "https://login.microsoftonline.com/organizations/oauth2/v2.0/token",
    });
    const unfit = { ...options, placeholders: { version: "..", tenant: "a/b" } };
    expect(() => locate("microsoft-agent365", unfit)).toThrow(expect.objectContaining(invalid));
  });

  it("bar#BY-4 at another party's domain drop the vendor's token endpoints", () => {
    const located = locate("gitlab", { endpoints: at("code.example.com") });
    const { authorizationEndpoint, tokenEndpoint, registrationEndpoint: _noToken, ...vendor } = located;
    expect({ authorizationEndpoint, tokenEndpoint }).toEqual(at("code.example.com"));
    expect(JSON.stringify(vendor)).not.toContain("//gitlab.com");
    expect(vendor).toMatchObject({ id: "gitlab", issRequired: false });
    for (const name of ["issuer", "issuerTemplate", "jwksUri"]) expect(vendor).not.toHaveProperty(name);
  });

  it("below the vendor's domain keep what is the vendor's", () => {
    const { issuer, revocationEndpoint } = locate("gitlab", {});
    expect(locate("gitlab", { endpoints: at("eu.gitlab.com") })).toMatchObject({ issuer, revocationEndpoint });
  });

  it("make a vendor usable that is off for its own", () => {
    const { authorizationEndpoint } = at("gateway.example.com");
    expect(() => locate("wechat", { endpoints: { authorizationEndpoint } })).toThrow("is off in the registry");
    expect(locate("wechat", { endpoints: at("gateway.example.com") })).toMatchObject(at("gateway.example.com"));
  });

  it("beside an issuer leave the others to be discovered", () => {
    const { tokenEndpoint } = at("vendor.example");
    const vendor = locate({ issuer: "https://vendor.example" }, { endpoints: { tokenEndpoint } });
    expect(vendor).toMatchObject({ issuer: "https://vendor.example", tokenEndpoint });
    expect(vendor).not.toHaveProperty("authorizationEndpoint");
  });
});
