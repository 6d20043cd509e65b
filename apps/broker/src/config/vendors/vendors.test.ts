import { defineVendor, REGISTRY as SHIPPED } from "@oauth-broker/oauth-core/registry";
import { describe, expect, it } from "vitest";
import { vendorSchema } from "../schema/vendor.ts";
import {
  CLIENT,
  load,
  MINIMAL,
  OWN_VENDOR as OWN,
  ownVendor,
  problemsOf,
  problemsOfOwnVendor as problemsOfOwn,
  registryOf,
} from "../testing/config-file.ts";

const REGISTRY = registryOf(
  {
    id: "github",
    name: "GitHub",
    authorizationEndpoint: "https://github.com/login/oauth/authorize",
    tokenEndpoint: "https://github.com/login/oauth/access_token",
    tokenEndpointAuthMethod: "client_secret_post",
    scopeSeparator: ",",
  },
  { setup: "vendor_approval", byoc: false },
);

const MISFIT = "has a default or a value that does not fit its own pattern, values and kind";

describe("a vendor of the operator's own", () => {
  it("needs a name and an issuer or both endpoints, and gets the standard for the rest", () => {
    expect(ownVendor({})).toEqual({
      vendor: defineVendor({
        id: "my-vendor",
        name: "My Vendor",
        authorizationEndpoint: "https://vendor.example/authorize",
        tokenEndpoint: "https://vendor.example/token",
      }),
      placeholders: {},
      setup: "none",
      byoc: true,
      credentials: [],
    });
    const { vendors } = load({ ...MINIMAL, vendors: { v: { name: "V", issuer: "https://vendor.example/tenant" } } });
    expect(vendors.get("v")?.vendor).toMatchObject({ id: "v", name: "V", issuer: "https://vendor.example/tenant" });
  });

  it("takes every field of the registry in snake_case", () => {
    const url = (path: string): string => `https://vendor.example/${path}`;
    const written = {
      issuer: url("i"),
      refreshEndpoint: url("f"),
      revocationEndpoint: url("r"),
      registrationEndpoint: url("g"),
      jwksUri: url("j"),
      userinfoEndpoint: url("u"),
      pkce: "none",
      scopeSeparator: ",",
      defaultScopes: ["read", "write:all"],
      authorizationParams: { access_type: "offline", prompt: "consent" },
      authorizationCodeLifetimeSeconds: 60,
      redeemAt: "callback",
      tokenEndpointAuthMethod: "client_secret_post",
      tokenRequestBody: "json",
      issRequired: true,
      idTokenAlgs: ["ES256"],
      additionalAudiences: true,
      rotatesRefreshTokens: true,
      callbackParams: ["realmId"],
      enabled: false,
      acceptsNewAuthorizations: false,
    };
    const inFile = Object.entries(written).map(([name, value]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]);
    const entry = ownVendor({ ...Object.fromEntries(inFile), setup: "environment_id", initial_access_token: "iat" });
    expect(entry?.vendor).toEqual({
      // A setting that the file does not have keeps the standard's default.
      ...defineVendor({ id: "my-vendor", name: "My Vendor" }),
      authorizationEndpoint: url("authorize"),
      tokenEndpoint: url("token"),
      statesAuthMethod: true,
      ...written,
    });
    expect(entry?.setup).toBe("environment_id");
    expect(entry?.initialAccessToken?.reveal()).toBe("iat");
    expect([entry?.accountBy, ownVendor({})?.accountBy]).toEqual(["userinfo", undefined]);
  });

  it.each([{}, { name: "V" }, { name: "V", token_endpoint: "https://v.example/t" }, null])("is refused as %j", (v) => {
    expect(problemsOf({ vendors: { v } })).toEqual([
      "vendors.v is not a vendor of the registry, so it is one of your own, and lacks an issuer (or authorization_endpoint and token_endpoint)",
    ]);
  });

  it("is shown by its id where it has no name", () => {
    const { name: _, ...nameless } = OWN;
    expect(load({ ...MINIMAL, vendors: { v: nameless } }).vendors.get("v")?.vendor.name).toBe("v");
  });

  it.each([
    [{ pkce: "S512" }, '….pkce must be one of "S256", "plain", "none"'],
    [{ id_token_algs: ["HS256"] }, expect.stringMatching(/^….id_token_algs\[0\] must be one of "RS256"/)],
    [{ id_token_algs: ["none"] }, expect.stringMatching(/^….id_token_algs\[0\] must be one of/)],
    [{ id_token_algs: [] }, "….id_token_algs must have at least one entry"],
    [
      { token_endpoint_auth_method: "private_key_jwt" },
      '….token_endpoint_auth_method must be one of "client_secret_basic", "client_secret_post", "none"',
    ],
    [
      { authorization_params: { Redirect_URI: "x" } },
      "….authorization_params.Redirect_URI is a parameter only the broker sets",
    ],
    [
      { authorization_params: { response_mode: "fragment" } },
      "….authorization_params.response_mode is a parameter only the broker sets to this",
    ],
    [{ authorization_params: { audience: 1 } }, "….authorization_params.audience must be text: put it in quotes"],
    [{ callback_params: ["code"] }, "….callback_params[0] is a parameter the broker reads itself"],
    [{ authorization_code_lifetime_seconds: 0 }, "….authorization_code_lifetime_seconds must be at least 1"],
    [
      { authorization_code_lifetime_seconds: 5 },
      "….authorization_code_lifetime_seconds is too short for codes to be parked",
    ],
    [{ scope_seperator: "," }, "….scope_seperator is not a known field: did you mean scope_separator?"],
    [{ setup: "approval" }, '….setup must be one of "none", "vendor_approval", "environment_id"'],
    [{ placeholders: "tenant" }, "….placeholders must be a mapping"],
    [{ placeholders: { tenant: { pattern: "[" } } }, "….placeholders.tenant.pattern must be a regular expression"],
    [
      { placeholders: { tenant: { valeus: ["a"] } } },
      "….placeholders.tenant.valeus is not a known field: did you mean values?",
    ],
    [{ placeholders: { tenant: { values: [] } } }, "….placeholders.tenant.values must have at least one entry"],
    [
      { placeholders: { "ten ant": {} } },
      '….placeholders."ten ant" must be a name: a letter, then letters, digits, _ and -',
    ],
    [{ placeholders: { tenant: { values: ["eu"], default: "us" } } }, `….placeholders.tenant ${MISFIT}`],
    [{ placeholders: { tenant: { pattern: "[a-z]+", values: ["EU"] } } }, `….placeholders.tenant ${MISFIT}`],
  ])("is refused with %j", (fields, problem) => {
    expect(problemsOfOwn(fields)).toEqual([problem]);
  });

  it.each(["read write", 'say"hi"', "back\\slash", "ä"])("rfc6749#3.3 has no default scope %j", (scope) => {
    expect(problemsOfOwn({ default_scopes: [scope] })).toEqual([
      "….default_scopes[0] must be one scope without spaces, quotes and backslashes",
    ]);
  });

  it("is not called custom, which stands for vendors of requests and may be on a client's list", () => {
    expect(problemsOf({ vendors: { custom: OWN } })).toEqual([
      "vendors.custom is the id of vendors that requests describe",
    ]);
    expect(load({ ...MINIMAL, clients: [{ ...CLIENT, vendors: ["custom"] }] }).clients[0]?.vendors).toEqual(["custom"]);
  });

  it("has an id of lower case letters, digits and -", () => {
    const problem = "must be a vendor id: lower case letters, digits and -";
    expect(problemsOf({ vendors: { My_Vendor: OWN, "-x": OWN } })).toEqual([
      `vendors.My_Vendor ${problem}`,
      `vendors.-x ${problem}`,
    ]);
  });
});

describe("endpoints", () => {
  const NO_PLAIN_URL =
    "must be an absolute https URL in plain ASCII, without user name, fragment or unusual host spelling";
  it.each([
    ["http://vendor.example/token", "must use https"],
    ["https://user@vendor.example/token", NO_PLAIN_URL],
    ["https://vendor.example/token#x", NO_PLAIN_URL],
    ["https://10.1.2.3/token", "must name a host of the public internet"],
    ["https://169.254.169.254/token", "must name a host of the public internet"],
    ["https://localhost/token", "must name a host of the public internet"],
    ["http://127.0.0.1:9000/token", "must use https"],
    ["/token", NO_PLAIN_URL],
  ])("bar#EG-7 refuses %s", (url, problem) => {
    expect(problemsOfOwn({ token_endpoint: url })).toEqual([`….token_endpoint ${problem}`]);
    expect(problemsOf({ clients: [{ client_id: "a", jwks_uri: url, redirect_uris: CLIENT.redirect_uris }] })).toEqual([
      `clients[0].jwks_uri ${problem}`,
    ]);
  });

  it("may be on loopback when egress allows it", () => {
    const token_endpoint = "http://127.0.0.1:9000/token";
    const egress = { allow_loopback: true };
    expect(ownVendor({ token_endpoint }, { egress })?.vendor.tokenEndpoint).toBe(token_endpoint);
    const byVariable = { egress: { allow_loopback: "env:YES" }, env: { YES: "true" } };
    expect(ownVendor({ token_endpoint }, byVariable)).toBeDefined();
    expect(() => ownVendor({ token_endpoint: "http://10.0.0.1:9000/token" }, { egress })).toThrow("must use https");
  });

  it("may have any https port, and the egress knows their hosts", () => {
    const issuer = "https://sso.customer.example:8443";
    expect(ownVendor({ issuer, token_endpoint: `${issuer}/token` })?.vendor).toMatchObject({ issuer });
    const { egress } = load({ ...MINIMAL, vendors: { v: { name: "V", issuer } } });
    expect(egress.operatorUrls).toEqual([issuer]);
  });

  it("may be on any port of a network egress allows", () => {
    const egress = { allow_cidrs: ["10.0.0.0/8"] };
    const at = (token_endpoint: string) => ownVendor({ token_endpoint }, { egress })?.vendor.tokenEndpoint;
    expect(at("https://10.1.2.3:8443/token")).toBe("https://10.1.2.3:8443/token");
    expect(() => at("https://192.168.1.1/token")).toThrow("must name a host of the public internet");
  });

  it("have placeholders of host, path and query, each of which the entry declares", () => {
    const token_endpoint = "https://{tenant}.vendor.example/{region}/token?x={x}";
    const placeholders = { tenant: { pattern: "[a-z]+" }, region: { values: ["eu", "us"], default: "eu" }, x: {} };
    const { vendor, placeholders: specs } = ownVendor({ token_endpoint, placeholders }) ?? {};
    expect([vendor?.tokenEndpoint, specs]).toEqual([token_endpoint, placeholders]);
    expect(problemsOfOwn({ token_endpoint, placeholders: { tenant: {} } })).toEqual([
      "….token_endpoint uses {region}, which is not declared under placeholders",
    ]);
  });

  const fields = Object.keys(vendorSchema({ allowLoopback: false, allowCidrs: [] }).in.shape);

  it.each(fields.filter((field) => /^issuer$|_endpoint$|_uri$/.test(field)))(
    "have no placeholder that the entry does not declare, and are not our own: %s",
    (field) => {
      const ours = problemsOfOwn({ [field]: `${MINIMAL.base_url}${field === "issuer" ? "" : "/v1/token"}` });
      expect(ours).toEqual([`….${field} is of this broker itself, base_url`]);
      expect(problemsOfOwn({ [field]: "https://vendor.example/{region}/x" })).toEqual([
        expect.stringMatching(new RegExp(String.raw`^….${field} (?:uses \{region\}|has braces), `)),
      ]);
    },
  );

  it("may fix the response mode to one that the callback takes", () => {
    for (const response_mode of ["query", "form_post"]) {
      const entry = ownVendor({ authorization_params: { response_mode } });
      expect(entry?.vendor.authorizationParams).toEqual({ response_mode });
    }
  });

  it("bar#ST-4 fix no parameter of ours by the vendor's own name of it", () => {
    const registry = registryOf({ id: "known", parameterNames: { client_id: "client_key" } });
    expect(problemsOf({ vendors: { known: { authorization_params: { client_key: "x" } } } }, { registry })).toEqual([
      "vendors.known.authorization_params.client_key is a parameter only the broker sets, as this vendor calls it",
    ]);
  });

  it.each([
    ["https://vendor.example/{a b}", "has braces that are no placeholder"],
    ["https://vendor.example/?x={x", "has braces that are no placeholder"],
    ["https://vendor.example:{port}/token", "must be an absolute https URL in plain ASCII"],
    ["https://{user}@vendor.example/token", "must be an absolute https URL in plain ASCII"],
    ["{scheme}://vendor.example/token", "must be an absolute https URL in plain ASCII"],
    ["https://vendor.example/#{x}", "must be an absolute https URL in plain ASCII"],
    ["http://{tenant}.vendor.example/token", "must use https"],
    ["https://{tenant}.internal/token", "must name a host of the public internet"],
  ])("bar#EG-7 have no placeholders elsewhere, and the rest is checked as ever: %s", (token_endpoint, problem) => {
    const placeholders = { tenant: {}, port: {}, user: {}, scheme: {}, x: {} };
    expect(problemsOfOwn({ token_endpoint, placeholders })).toEqual([
      expect.stringContaining(`….token_endpoint ${problem}`),
    ]);
  });

  it("have no placeholders where no request could fill them", () => {
    const problem = "has braces, and no {placeholders} here: write the whole address";
    const url = "https://{tenant}.vendor.example/x";
    const placeholders = { tenant: {} };
    expect(problemsOfOwn({ registration_endpoint: url, placeholders })).toEqual([`….registration_endpoint ${problem}`]);
    const clients = [{ client_id: "a", jwks_uri: url, redirect_uris: CLIENT.redirect_uris }];
    expect(problemsOf({ clients })).toEqual([`clients[0].jwks_uri ${problem}`]);
  });

  it("bar#XA-2 that a request can move anywhere get no broker credentials; start warns", () => {
    const whole = { authorization_endpoint: "https://{host}/authorize", token_endpoint: "https://{host}/token" };
    const credentials = { client_id: "a", client_secret: "b" };
    const own = { name: "My Vendor", ...whole, credentials, placeholders: { host: { kind: "host" } } };
    const { warnings } = load({ ...MINIMAL, vendors: { own } });
    expect(warnings.filter((warning) => warning.includes("whole domain"))).toHaveLength(1);
  });
});

describe("a revocation endpoint", () => {
  it("may hold our client id as a segment of its path, and no other endpoint may", () => {
    const url = "https://vendor.example/apps/{client_id}/token";
    expect(ownVendor({ revocation_endpoint: url })?.vendor.revocationEndpoint).toBe(url);
    for (const fields of [
      { revocation_endpoint: "https://{client_id}.vendor.example/token" },
      { revocation_endpoint: "https://vendor.example/{client_id}token" },
      { revocation_endpoint: "https://vendor.example/{user}/token" },
      { token_endpoint: url },
    ]) {
      expect(problemsOfOwn(fields)).toEqual([expect.stringContaining("which is not declared under placeholders")]);
    }
  });
});

describe("an issuer with a name per tenant", () => {
  it("may be given for a vendor of the registry that has one, and for no other", () => {
    const issuer = "https://login.acme.example/{tenantid}/v2.0";
    const vendors = { "microsoft-agent365": { issuer } };
    const { vendor } = load({ ...MINIMAL, vendors }, { registry: SHIPPED }).vendors.get("microsoft-agent365") ?? {};
    expect(vendor?.issuer).toBe(issuer);
    const other = { vendors: { "microsoft-agent365": { issuer: issuer.replace("tenantid", "organization") } } };
    const undeclared = [expect.stringContaining("which is not declared under placeholders")];
    expect(problemsOf(other, { registry: SHIPPED })).toEqual(undeclared);
    expect(problemsOfOwn({ issuer })).toEqual(undeclared);
    expect(problemsOf({ vendors: { github: { issuer } } }, { registry: SHIPPED })).toHaveLength(1);
  });
});

describe("a vendor of the registry", () => {
  it("is there without being named", () => {
    const { vendors } = load(MINIMAL, { registry: REGISTRY });
    expect([...vendors.keys()]).toEqual(["github"]);
    expect(vendors.get("github")).toMatchObject({ setup: "vendor_approval", credentials: [] });
  });

  it("keeps its dialect when the operator points it elsewhere", () => {
    const github = { token_endpoint: "https://github.acme.example/token" };
    const { vendors } = load({ ...MINIMAL, vendors: { github } }, { registry: REGISTRY });
    expect(vendors.get("github")?.vendor).toMatchObject({
      name: "GitHub",
      authorizationEndpoint: "https://github.com/login/oauth/authorize",
      tokenEndpoint: "https://github.acme.example/token",
      tokenEndpointAuthMethod: "client_secret_post",
      scopeSeparator: ",",
    });
  });

  it("may be what a client is limited to", () => {
    const clients = [{ ...CLIENT, vendors: ["github"] }];
    expect(load({ ...MINIMAL, clients }, { registry: REGISTRY }).clients[0]?.vendors).toEqual(["github"]);
  });
});
