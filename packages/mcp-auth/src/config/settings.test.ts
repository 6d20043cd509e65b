import { REGISTRY } from "@oauth-broker/oauth-core/registry";
import type { ConfigError } from "@oauth-broker/service/configuration";
import { describe, expect, it } from "vitest";
import { describeVariables, loadSettings } from "../config.ts";
import { HOSTED, loadHosted as hosted, NO_URLS, PRE_REGISTERED, problemsOf, SERVER } from "../testing/environments.ts";

const GITHUB = { ...NO_URLS, VENDOR: "github" };

describe("what is not set", () => {
  it("has its defaults in pre-registered mode", () => {
    const { vendor, ...settings } = loadSettings(PRE_REGISTERED);
    expect(settings).toEqual({
      mode: "pre-registered",
      listen: { host: "127.0.0.1", port: 8788, maxConnections: 2000, idleSeconds: 65 },
      deploymentUrl: undefined,
      allowedOrigins: [],
      operator: { language: "en" },
      egress: { allowLoopback: false, allowCidrs: [], operatorUrls: expect.any(Array) },
      limits: { requestsPerMinute: 600, registrationsPerMinute: 10, refusedTokensPerMinute: 120, trustedProxies: [] },
      warnings: [],
    });
    expect(vendor).toMatchObject({ credentials: undefined, scopes: [], apiHosts: [] });
    expect(vendor.vendor).toMatchObject({ id: "my-vendor", name: "my-vendor", pkce: "S256" });
  });

  it("is set when it is set to nothing", () => {
    const names = describeVariables().map(({ name }) => [name, ""] as const);
    expect(loadSettings({ ...Object.fromEntries(names), ...PRE_REGISTERED })).toEqual(loadSettings(PRE_REGISTERED));
  });

  it("has its defaults in hosted mode", () => {
    const settings = hosted(HOSTED);
    expect(settings.callback).toEqual({
      kind: "platform",
      redirectUri: "https://platform.example.com/oauth/callback",
      registers: true,
    });
    expect(settings).toMatchObject({ allowVendorWithoutPkce: false, warnings: [] });
    const { clientId, clientSecret, source } = settings.vendor.credentials;
    expect([clientId, clientSecret?.reveal(), source]).toEqual(["our-id", "our-secret", "environment"]);
  });
});

describe("the callback", () => {
  it("is the server's where no platform has one", () => {
    const { callback, warnings } = hosted({ ...HOSTED, PLATFORM_OAUTH_CALLBACK_URL: "" });
    expect(callback).toEqual({
      kind: "server",
      redirectUri: "https://server.example.com/callback",
      clients: [],
      registration: undefined,
      clientMetadataHosts: [],
    });
    expect(warnings).toEqual([expect.stringContaining("No client can connect")]);
  });

  it("is the server's where it says so, with the clients it knows", () => {
    const { callback, warnings } = hosted({
      ...SERVER,
      OAUTH_CLIENTS: '[{"client_id":"desk","client_name":"Desk","redirect_uris":["http://127.0.0.1/cb"]}]',
      OAUTH_DYNAMIC_REGISTRATION: "open",
      OAUTH_DYNAMIC_REGISTRATION_HOSTS: "a.example.com, localhost",
      OAUTH_CLIENT_METADATA_HOSTS: "client.example.com,localhost:9000",
      EGRESS_ALLOW_LOOPBACK: "true",
    });
    expect(callback).toEqual({
      kind: "server",
      redirectUri: "https://server.example.com/callback",
      clients: [{ clientId: "desk", clientName: "Desk", redirectUris: ["http://127.0.0.1/cb"] }],
      registration: { hosts: ["a.example.com", "localhost"] },
      clientMetadataHosts: ["client.example.com", "localhost:9000"],
    });
    expect(warnings).toEqual([
      expect.stringContaining("EGRESS_ALLOW_LOOPBACK is on"),
      expect.stringContaining("OAUTH_DYNAMIC_REGISTRATION is open beside OAUTH_CLIENT_METADATA_HOSTS"),
    ]);
  });

  it("of the platform can be without /register", () => {
    expect(hosted({ ...HOSTED, OAUTH_REGISTER: "off" }).callback).toMatchObject({ registers: false });
  });
});

it("endpoints of the operator may have any https port, and the hosts of tools none", () => {
  const { vendor, egress } = hosted({
    ...HOSTED,
    VENDOR_ISSUER: "https://sso.customer.example:8443",
    VENDOR_TOKEN_URL: "https://sso.customer.example:9443/token",
  });
  expect(vendor.vendor.tokenEndpoint).toBe("https://sso.customer.example:9443/token");
  expect(egress.operatorUrls).toEqual(expect.arrayContaining(["https://sso.customer.example:8443"]));
  expect(() => hosted({ ...HOSTED, VENDOR_TOKEN_URL: "http://sso.customer.example:9443/token" })).toThrow(/https/);
  expect(() => hosted({ ...HOSTED, VENDOR_API_HOSTS: "sso.customer.example:8443" })).toThrow(/VENDOR_API_HOSTS/);
});

it("bar#EG-11 egress uses EGRESS_PROXY; other proxy variables are a warning (h26)", () => {
  const EGRESS_PROXY = "http://server:p%40ss@proxy.internal:3128";
  const { egress, warnings } = hosted({ ...HOSTED, EGRESS_PROXY, HTTPS_PROXY: "http://canary:1" });
  expect(egress.proxy?.reveal()).toBe(EGRESS_PROXY);
  expect(JSON.stringify(egress)).not.toContain("p%40ss");
  expect(warnings.join()).not.toContain("PROXY");
  expect(hosted({ ...HOSTED, https_proxy: "http://canary:1", NODE_USE_ENV_PROXY: "1" }).warnings).toContain(
    "https_proxy, NODE_USE_ENV_PROXY are set and not read: calls to vendors go out without a proxy. Set EGRESS_PROXY for a proxy",
  );
  expect(() => hosted({ ...HOSTED, EGRESS_PROXY: "proxy.internal:3128" })).toThrow(/EGRESS_PROXY must be an http/);
});

it("an id or secret loses a byte order mark and final line ends (h11)", () => {
  const { vendor } = hosted({ ...HOSTED, VENDOR_CLIENT_ID: "\uFEFFid-x\r\n", VENDOR_CLIENT_SECRET: "secret-x\n" });
  expect([vendor.credentials?.clientId, vendor.credentials?.clientSecret?.reveal()]).toEqual(["id-x", "secret-x"]);
});

it("origins of clients that are web pages count in every mode", () => {
  const ALLOWED_ORIGINS = "https://app.example.com, http://localhost:6274,https://app.example.com,";
  for (const environment of [PRE_REGISTERED, HOSTED, SERVER]) {
    const { allowedOrigins, warnings } = loadSettings({ ...environment, ALLOWED_ORIGINS });
    expect(allowedOrigins).toEqual(["https://app.example.com", "http://localhost:6274"]);
    expect(warnings.join()).not.toContain("ALLOWED");
  }
  expect(loadSettings({ ...PRE_REGISTERED, ALLOWED_ORIGINS: "*" }).allowedOrigins).toEqual(["*"]);
});

describe("a registry vendor", () => {
  it("comes with its scopes and hosts, to which ours are added", () => {
    const { vendor } = loadSettings({
      ...PRE_REGISTERED,
      ...GITHUB,
      VENDOR_API_HOSTS: "uploads.example.com,.ours.example",
    });
    expect(vendor.scopes).toEqual(["read:user"]);
    expect(vendor.apiHosts).toEqual([...vendor.vendor.apiHosts, "uploads.example.com", ".ours.example"]);
    expect(vendor.vendor.tokenEndpoint).toBe("https://github.com/login/oauth/access_token");
  });

  it("has URLs that are usable once its placeholders are filled, whichever it is", () => {
    const refused = [...REGISTRY.values()].flatMap(({ vendor: { id }, placeholders }) => {
      if (Object.keys(placeholders).length > 0) return [];
      try {
        loadSettings({ ...PRE_REGISTERED, ...NO_URLS, VENDOR: id });
        return [];
      } catch (error) {
        return (error as ConfigError).problems.flatMap(({ path }) => (path === "VENDOR_PLACEHOLDERS" ? [id] : []));
      }
    });
    expect(refused).toEqual([]);
    const endpoint = "https://gw.example.com/tokens/{access_token}";
    const hubspot = { ...PRE_REGISTERED, ...NO_URLS, VENDOR: "hubspot" };
    const { account } = loadSettings({ ...hubspot, VENDOR_USERINFO_URL: endpoint }).vendor.vendor;
    expect(account).toMatchObject({ endpoint });
    const misplaced = ["VENDOR_USERINFO_URL is without {access_token}, where the token is to stand"];
    expect(problemsOf({ ...hubspot, VENDOR_USERINFO_URL: "https://gw.example.com/me" })).toEqual(misplaced);
  });

  it("keeps its dialect under the operator's URLs", () => {
    const { vendor, warnings } = hosted({
      ...HOSTED,
      VENDOR: "github",
      VENDOR_TOKEN_URL: "http://127.0.0.1:9000/token",
      VENDOR_AUTHORIZATION_URL: "http://127.0.0.1:9000/authorize",
      VENDOR_USERINFO_URL: "http://127.0.0.1:9000/user",
      VENDOR_INTROSPECTION_URL: "http://127.0.0.1:9000/applications/{client_id}/token",
      VENDOR_REVOCATION_URL: "http://127.0.0.1:9000/applications/{client_id}/token",
      EGRESS_ALLOW_LOOPBACK: "true",
    });
    expect(vendor.vendor).toMatchObject({
      tokenEndpoint: "http://127.0.0.1:9000/token",
      revocationEndpoint: "http://127.0.0.1:9000/applications/{client_id}/token",
      revocation: { method: "DELETE" },
      tokenEndpointAuthMethod: "client_secret_post",
      account: { endpoint: "http://127.0.0.1:9000/user" },
      tokenCheck: { endpoint: "http://127.0.0.1:9000/applications/{client_id}/token" },
    });
    expect(warnings).toContainEqual(expect.stringContaining("EGRESS_ALLOW_LOOPBACK is on although"));
  });

  it("bar#BY-4 whose token URL is moved leaves the registry's other hosts behind", () => {
    const moved = { VENDOR_TOKEN_URL: "https://gateway.example.com/token" };
    const { vendor, warnings } = hosted({ ...HOSTED, ...NO_URLS, VENDOR: "slack", ...moved });
    expect(vendor.vendor.tokenEndpoint).toBe("https://gateway.example.com/token");
    for (const field of ["refreshEndpoint", "revocationEndpoint", "userinfoEndpoint", "account", "tokenCheck"]) {
      expect(vendor.vendor, field).not.toHaveProperty(field);
    }
    expect(JSON.stringify(vendor.apiHosts)).not.toContain("slack");
    expect(warnings).toContainEqual(
      expect.stringMatching(/VENDOR_TOKEN_URL is at another domain.*VENDOR_REVOCATION_URL/),
    );
  });

  it("that is an MCP server is compared with its metadata, beside an account of the operator's", () => {
    const live = hosted({
      ...HOSTED,
      ...NO_URLS,
      VENDOR: "postman-mcp",
      VENDOR_USERINFO_URL: "https://gw.example.com/me",
    });
    expect(live.vendor.vendor).toMatchObject({
      serverUrl: "https://mcp.postman.com/mcp",
      operatorsEndpoints: ["userinfoEndpoint"],
      userinfoEndpoint: "https://gw.example.com/me",
    });
    const own = { VENDOR_TOKEN_URL: "https://mcp.postman.com/other", VENDOR_USERINFO_URL: "https://gw.example.com/me" };
    const stored = hosted({ ...HOSTED, ...NO_URLS, VENDOR: "postman-mcp", ...own });
    expect(stored.vendor.vendor).not.toHaveProperty("serverUrl");
    expect(stored.vendor.vendor.authorizationEndpoint).toBe("https://mcp.postman.com/authorize");
  });

  it("that is off is used with the operator's URLs, with a warning", () => {
    const { vendor, warnings } = loadSettings({ ...PRE_REGISTERED, VENDOR: "23andme" });
    expect(vendor.vendor).toMatchObject({ enabled: true, tokenEndpoint: "https://vendor.example.com/token" });
    expect(warnings).toContainEqual(expect.stringContaining("VENDOR is off in the registry, and used with"));
  });

  it("has its placeholders filled, by their defaults too", () => {
    const environment = { ...HOSTED, ...NO_URLS, VENDOR: "microsoft-agent365" };
    const tokenUrl = (values: object): string | undefined =>
      loadSettings({ ...environment, VENDOR_PLACEHOLDERS: JSON.stringify(values) }).vendor.vendor.tokenEndpoint;
    expect(tokenUrl({})).toBe("https://login.microsoftonline.com/organizations/oauth2/v2.0/token");
    const tenant = "11111111-2222-3333-4444-555555555555";
    expect(tokenUrl({ tenant })).toBe(`https://login.microsoftonline.com/${tenant}/oauth2/v2.0/token`);
    expect(loadSettings(environment).warnings).toContainEqual(expect.stringContaining("consent of an administrator"));
  });
});

describe("a vendor of the operator's own", () => {
  it("may be an issuer alone: the rest is discovered", () => {
    const issuer = { ...NO_URLS, VENDOR_ISSUER: "https://vendor.example.com" };
    for (const environment of [PRE_REGISTERED, HOSTED]) {
      const { vendor, warnings } = loadSettings({ ...environment, ...issuer });
      expect(vendor.vendor).toMatchObject({ issuer: "https://vendor.example.com" });
      expect(vendor.vendor).not.toHaveProperty("tokenEndpoint");
      expect(warnings).toEqual([]);
    }
  });

  it("has every URL where it belongs, with placeholders", () => {
    const { vendor } = loadSettings({
      ...PRE_REGISTERED,
      VENDOR_TOKEN_URL: "https://{tenant}.vendor.example.com/token",
      VENDOR_JWKS_URL: "https://vendor.example.com/{tenant}/jwks",
      VENDOR_INTROSPECTION_URL: "https://vendor.example.com/introspect",
      VENDOR_REVOCATION_URL: "https://{tenant}.vendor.example.com/revoke",
      VENDOR_PLACEHOLDERS: '{"tenant":"acme"}',
      VENDOR_SCOPES: " openid  read ",
    });
    expect(vendor.scopes).toEqual(["openid", "read"]);
    expect(vendor.vendor).toMatchObject({
      tokenEndpoint: "https://acme.vendor.example.com/token",
      jwksUri: "https://vendor.example.com/acme/jwks",
      introspectionEndpoint: "https://vendor.example.com/introspect",
      revocationEndpoint: "https://acme.vendor.example.com/revoke",
      userinfoEndpoint: "https://vendor.example.com/userinfo",
    });
  });

  it("treats us as a public client without a secret", () => {
    const { vendor } = hosted({ ...HOSTED, VENDOR_CLIENT_SECRET: "" });
    expect(vendor.vendor.tokenEndpointAuthMethod).toBe("none");
    expect(vendor.credentials).not.toHaveProperty("clientSecret");
  });

  it("has its tokens validated by introspection where we have a secret", () => {
    const introspection = {
      ...PRE_REGISTERED,
      VENDOR_USERINFO_URL: "",
      VENDOR_INTROSPECTION_URL: "https://vendor.example.com/introspect",
      VENDOR_CLIENT_ID: "our-id",
      VENDOR_CLIENT_SECRET: "our-secret",
    };
    expect(loadSettings(introspection).warnings).toEqual([]);
  });

  it("rfc9700#2.1.1 may have no PKCE where its ID tokens carry a nonce", () => {
    const oidc = { VENDOR_PKCE: "none", VENDOR_ISSUER: "https://vendor.example.com", VENDOR_SCOPES: "openid" };
    expect(hosted({ ...HOSTED, ...oidc })).toMatchObject({ allowVendorWithoutPkce: false, warnings: [] });
  });

  it("rfc9700#2.1.1 may be without both where that is allowed by name, with a warning", () => {
    const { warnings, allowVendorWithoutPkce } = hosted({
      ...HOSTED,
      VENDOR_PKCE: "none",
      ALLOW_VENDOR_WITHOUT_PKCE: "true",
    });
    expect(allowVendorWithoutPkce).toBe(true);
    expect(warnings).toEqual([expect.stringContaining("AN ATTACKER WHO STEALS A CODE CAN USE IT")]);
  });

  it("that identifies no user does so by an account of the operator's, in hosted mode", () => {
    const account = { VENDOR_ACCOUNT_URL: "https://vendor.example.com/{team}/me", VENDOR_IDENTITY: "team.id, user.id" };
    const filled = { ...account, VENDOR_PLACEHOLDERS: '{"team":"acme"}', VENDOR_USERINFO_URL: "" };
    const { vendor, warnings } = hosted({ ...HOSTED, ...filled });
    expect(warnings).toEqual([]);
    expect(vendor.vendor.account).toEqual({
      endpoint: "https://vendor.example.com/acme/me",
      method: "GET",
      identity: ["team.id", "user.id"],
    });
    const known = { VENDOR: "notion", VENDOR_SCOPES: "default", ...account };
    expect(hosted({ ...HOSTED, ...filled, ...known }).vendor.vendor).not.toHaveProperty("identity");
  });

  it("has an account in the registry, and the operator says who in it is the user", () => {
    const { vendor } = hosted({ ...HOSTED, ...NO_URLS, VENDOR: "tumblr", VENDOR_IDENTITY: "response.user.name" });
    const account = { endpoint: "https://api.tumblr.com/v2/user/info", identity: ["response.user.name"] };
    expect(vendor.vendor.account).toMatchObject(account);
  });
});

it("replaces an unsealed server key if the operator consents, with a warning", () => {
  expect(hosted(HOSTED)).toMatchObject({ adoptUnsealedServerKey: false, warnings: [] });
  expect(hosted({ ...HOSTED, ADOPT_UNSEALED_SERVER_KEY: "true" })).toMatchObject({
    adoptUnsealedServerKey: true,
    warnings: [expect.stringContaining("all sessions end")],
  });
  const table = { ...HOSTED, DB_TABLE_NAME: "tokens", DB_TABLE_REGION: "eu-west-1", ADOPT_UNSEALED_SERVER_KEY: "true" };
  expect(hosted(table).warnings).toEqual([
    expect.stringContaining("has no effect without TOKEN_ENCRYPTION_KMS_KEY_ID"),
  ]);
});

it("address, port and trusted proxies are as written", () => {
  const settings = hosted({
    ...HOSTED,
    DEPLOYMENT_URL: "http://localhost:9001",
    HOST: "[::1]",
    PORT: "0",
    MAX_CONNECTIONS: "50",
    IDLE_SECONDS: "65",
    EGRESS_ALLOW_CIDRS: "10.20.0.0/16, fd00::/8",
    OAUTH_CALLBACK: "server",
    OAUTH_CLIENT_METADATA_HOSTS: "client.example.com",
    LIMITS_REQUESTS_PER_MINUTE: "120",
    LIMITS_REGISTRATIONS_PER_MINUTE: "0",
    LIMITS_REFUSED_TOKENS_PER_MINUTE: "7",
    TRUSTED_PROXIES: "10.0.0.0/8",
    VENDOR_TOKEN_URL: "https://vendor.internal:8443/token",
  });
  expect(settings).toMatchObject({
    deploymentUrl: "http://localhost:9001",
    listen: { host: "::1", port: 0, maxConnections: 50, idleSeconds: 65 },
    egress: { allowCidrs: ["10.20.0.0/16", "fd00::/8"] },
    limits: {
      requestsPerMinute: 120,
      registrationsPerMinute: 0,
      refusedTokensPerMinute: 7,
      trustedProxies: ["10.0.0.0/8"],
    },
    warnings: [],
  });
});

it("reads where spans go, and refuses it with everything else that is wrong", () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318", OTEL_UNKNOWN: "left to the SDK" };
  expect(loadSettings({ ...HOSTED, ...endpoint })).toMatchObject({
    tracing: { sampler: "parentbased_always_on" },
    warnings: [],
  });
  const wrong = { ...HOSTED, PORT: "none", OTEL_EXPORTER_OTLP_ENDPOINT: "collector", OTEL_SDK_DISABLED: "yes" };
  expect(() => loadSettings(wrong)).toThrow(/OTEL_SDK_DISABLED must[^]*OTEL_EXPORTER_OTLP_ENDPOINT must/);
  expect(() => loadSettings(wrong)).toThrow(/PORT must/);
});
