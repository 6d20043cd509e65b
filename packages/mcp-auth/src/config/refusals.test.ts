import { describe, expect, it } from "vitest";
import type { Environment } from "../config.ts";
import { HOSTED, NO_URLS, PRE_REGISTERED, problemsOf, SERVER, SEVERAL } from "../testing/environments.ts";

/** Applied over a good environment, and its only problem then. */
type Row = readonly [what: string, changes: Environment, problem: string];

function expectRefused(environment: Environment, problem: string): void {
  const problems = problemsOf(environment);
  expect(problems, problems.join("\n")).toEqual([expect.stringContaining(problem)]);
}

describe("a hosted server's environment is refused", () => {
  it.each([" s", "s\t", '"s"', "'s'", "s\nt"])("with an id or a secret that has something around it: %j", (value) => {
    for (const name of ["VENDOR_CLIENT_SECRET", "VENDOR_CLIENT_ID"]) {
      expectRefused({ ...HOSTED, [name]: value }, `${name} must`);
    }
    expectRefused({ ...SEVERAL, VENDOR_SLACK_CLIENT_SECRET: value }, "VENDOR_SLACK_CLIENT_SECRET must");
  });

  it.each(["null", "https://app.example.com/", "https://*.example.com", "app.example.com", "*, null"])(
    "with %s as an origin",
    (ALLOWED_ORIGINS) =>
      expectRefused({ ...HOSTED, ALLOWED_ORIGINS }, "ALLOWED_ORIGINS has an entry that must be an origin"),
  );

  it.each([
    {},
    { VENDOR_ISSUER: "https://vendor.example.com" },
    { VENDOR_ISSUER: "https://vendor.example.com", VENDOR_SCOPES: "profile" },
    { ...NO_URLS, VENDOR: "tumblr" },
    { ...NO_URLS, VENDOR: "squarespace" },
  ])("with a vendor that identifies no user: %j", (fields) => {
    const problem =
      "VENDOR does not identify its users, so every authorization would fail: set VENDOR_USERINFO_URL, VENDOR_ACCOUNT_URL with VENDOR_IDENTITY, or";
    expectRefused({ ...HOSTED, VENDOR_USERINFO_URL: "", ...fields }, problem);
  });

  it.each<Row>([
    ["hosted without a URL", { DEPLOYMENT_URL: "" }, "DEPLOYMENT_URL is missing"],
    ["a path", { DEPLOYMENT_URL: "https://server.example.com/mcp" }, "DEPLOYMENT_URL must not have a path"],
    ["a slash", { DEPLOYMENT_URL: "https://server.example.com/" }, "must not end in a slash"],
    ["a query", { DEPLOYMENT_URL: "https://server.example.com?a=1" }, "must not have a query"],
    ["a fragment", { DEPLOYMENT_URL: "https://server.example.com#a" }, "must not have a query or a fragment"],
    ["http", { DEPLOYMENT_URL: "http://server.example.com" }, "must be https"],
    ["a user in the URL", { DEPLOYMENT_URL: "https://u@server.example.com" }, "user information"],
    ["a dot at the end", { DEPLOYMENT_URL: "https://server.example.com." }, "must not end its host in a dot"],
    ["a default port", { DEPLOYMENT_URL: "https://server.example.com:443" }, "must be in canonical form"],
    ["no URL at all", { DEPLOYMENT_URL: "server.example.com" }, "must be an absolute https URL"],
    ["an http callback", { PLATFORM_OAUTH_CALLBACK_URL: "http://p.example.com/cb" }, "must be https, or http on"],
    ["a callback with a fragment", { PLATFORM_OAUTH_CALLBACK_URL: "https://p.example.com/cb#x" }, "fragment"],
    [
      "the platform's callback without one",
      { OAUTH_CALLBACK: "platform", PLATFORM_OAUTH_CALLBACK_URL: "" },
      "PLATFORM_OAUTH_CALLBACK_URL is missing, and OAUTH_CALLBACK is platform",
    ],
    ["another callback", { OAUTH_CALLBACK: "both" }, "OAUTH_CALLBACK must be platform or server"],
    ["no vendor", { VENDOR: undefined }, "VENDOR is missing"],
    ["an invalid vendor id", { VENDOR: "My Vendor" }, "VENDOR must be a vendor id"],
    [
      "a vendor whose refresh repeats part of the callback",
      { ...NO_URLS, VENDOR: "vk-id", VENDOR_USERINFO_URL: "https://vendor.example.com/u" },
      "VENDOR wants part of the callback again with each refresh",
    ],
    [
      "a vendor whose token request repeats part of the callback, at the platform's callback",
      { ...NO_URLS, VENDOR: "dropbox-sign", ALLOW_VENDOR_WITHOUT_PKCE: "true" },
      "OAUTH_CALLBACK must be server for VENDOR",
    ],
    ["a vendor that is off", { ...NO_URLS, VENDOR: "23andme" }, "VENDOR is off in the registry: "],
    ["an http endpoint", { VENDOR_TOKEN_URL: "http://vendor.example.com/token" }, "VENDOR_TOKEN_URL must use https"],
    ["a private host", { VENDOR_USERINFO_URL: "https://10.0.0.1/u" }, "VENDOR_USERINFO_URL must name a host of"],
    ["loopback", { VENDOR_ISSUER: "http://127.0.0.1:9000" }, "VENDOR_ISSUER must use https"],
    ["itself", { VENDOR_ISSUER: "https://server.example.com/" }, "VENDOR_ISSUER is of this server itself"],
    ["its own endpoint", { VENDOR_TOKEN_URL: "https://server.example.com/token" }, "VENDOR_TOKEN_URL is of this"],
    ["a fragment in an endpoint", { VENDOR_JWKS_URL: "https://vendor.example.com/#k" }, "VENDOR_JWKS_URL must be"],
    ["a revocation that is no URL", { VENDOR_REVOCATION_URL: "revoke" }, "VENDOR_REVOCATION_URL must be"],
    ["an introspection that is no URL", { VENDOR_INTROSPECTION_URL: "-" }, "VENDOR_INTROSPECTION_URL must be"],
    ["plain PKCE", { VENDOR_PKCE: "plain" }, "VENDOR_PKCE must be S256 or none"],
    ["placeholders that are no JSON", { VENDOR_PLACEHOLDERS: "{tenant:a}" }, "VENDOR_PLACEHOLDERS does not fit"],
    ["placeholders that are no strings", { VENDOR_PLACEHOLDERS: '{"a":1}' }, "VENDOR_PLACEHOLDERS does not fit"],
    ["an unknown placeholder", { VENDOR_PLACEHOLDERS: '{"tenant":"a"}' }, "placeholder tenant is not one of"],
    [
      "a placeholder without value",
      { VENDOR_TOKEN_URL: "https://{tenant}.vendor.example.com/token" },
      "placeholder tenant is missing",
    ],
    [
      "a placeholder that leads elsewhere",
      {
        VENDOR_TOKEN_URL: "https://{tenant}.vendor.example.com/token",
        VENDOR_PLACEHOLDERS: '{"tenant":"evil.example/"}',
      },
      "placeholder tenant has a value that does not fit",
    ],
    [
      "a private host by placeholder",
      { VENDOR_TOKEN_URL: "https://auth.{zone}/token", VENDOR_PLACEHOLDERS: '{"zone":"internal"}' },
      "VENDOR_TOKEN_URL must name a host of the public internet",
    ],
    ["braces without a name", { VENDOR_TOKEN_URL: "https://vendor.example.com/{}" }, "braces that are no placeholder"],
    ["hosted without a client", { VENDOR_CLIENT_ID: "" }, "VENDOR_CLIENT_ID is missing"],
    ["a secret with a line break", { VENDOR_CLIENT_SECRET: "a\nb" }, "none of them a control character"],
    ["scopes with quotes", { VENDOR_SCOPES: 'read "write"' }, "VENDOR_SCOPES contains characters that are not allowed"],
    ["scopes with commas", { VENDOR_SCOPES: "repo,user" }, "VENDOR_SCOPES has a comma: separate scopes by spaces"],
    ["a host with a port", { VENDOR_API_HOSTS: "a.example.com:443" }, "VENDOR_API_HOSTS has an entry that must be a"],
    ["a host with a scheme", { VENDOR_API_HOSTS: "https://api.example.com" }, "without scheme, port and path"],
    ["a URL that begins with a placeholder", { VENDOR_TOKEN_URL: "{host}/token" }, "VENDOR_TOKEN_URL must be an"],
    ["a host in capitals", { VENDOR_API_HOSTS: "API.example.com" }, "VENDOR_API_HOSTS has an entry"],
    ["every host there is", { VENDOR_API_HOSTS: ".com" }, "VENDOR_API_HOSTS has an entry that must"],
    ["every host of a country", { VENDOR_API_HOSTS: ".co.uk" }, "all below a domain that many parties share"],
    ["every host of a hoster", { VENDOR_API_HOSTS: ".vercel.app" }, "all below a domain that many parties share"],
    ["an address inside", { VENDOR_API_HOSTS: "169.254.169.254" }, "must name a host of the public internet"],
    ["an address in disguise", { VENDOR_API_HOSTS: "2130706433" }, "VENDOR_API_HOSTS has an entry that must be a host"],
    ["a table without region", { DB_TABLE_NAME: "tokens" }, "DB_TABLE_REGION is needed beside DB_TABLE_NAME"],
    ["no name of a table", { DB_TABLE_NAME: "a b", DB_TABLE_REGION: "eu-west-1" }, "DB_TABLE_NAME is not a"],
    ["another encryption", { TOKEN_ENCRYPTION_MODE: "off" }, "TOKEN_ENCRYPTION_MODE must be bridge or encrypted"],
    [
      "an invalid key id",
      { TOKEN_ENCRYPTION_KMS_KEY_ID: "arn:aws:s3:::bucket" },
      "TOKEN_ENCRYPTION_KMS_KEY_ID names no key: enter the key's ARN",
    ],
    [
      "encryption without a key",
      { DB_TABLE_NAME: "tokens", DB_TABLE_REGION: "eu-west-1", TOKEN_ENCRYPTION_MODE: "encrypted" },
      "TOKEN_ENCRYPTION_KMS_KEY_ID is missing",
    ],
    ["another register", { OAUTH_REGISTER: "false" }, "OAUTH_REGISTER must be on or off"],
    ["an invalid flag", { EGRESS_ALLOW_LOOPBACK: "1" }, "EGRESS_ALLOW_LOOPBACK must be true or false"],
    [
      "an invalid network",
      { EGRESS_ALLOW_CIDRS: "10.0.0.0" },
      "EGRESS_ALLOW_CIDRS has an entry that must be a network",
    ],
    [
      "an invalid proxy",
      { TRUSTED_PROXIES: "10.0.0.0/8,proxy" },
      "TRUSTED_PROXIES has an entry that must be a network",
    ],
    ["a host to listen on with a port", { HOST: "[::1]:80" }, "HOST must be an address or a host name without port"],
    ["the same by IPv4", { HOST: "127.0.0.1:80" }, "HOST must be an address or a host name without port"],
    ["a port too high", { PORT: "65536" }, "PORT must be a whole number from 0 to 65535"],
    ["an invalid port", { PORT: "http" }, "PORT must be a whole number"],
    ["a negative limit", { LIMITS_REQUESTS_PER_MINUTE: "-1" }, "LIMITS_REQUESTS_PER_MINUTE must be a whole number"],
    ["an invalid allowance", { ALLOW_VENDOR_WITHOUT_PKCE: "yes" }, "ALLOW_VENDOR_WITHOUT_PKCE must be true or false"],
    ["rfc9700#2.1.1 no PKCE", { VENDOR_PKCE: "none" }, "VENDOR has neither PKCE nor ID tokens"],
    [
      "rfc9700#2.1.1 no PKCE and an issuer without openid",
      { VENDOR_PKCE: "none", VENDOR_ISSUER: "https://vendor.example.com", VENDOR_SCOPES: "read" },
      "VENDOR has neither PKCE nor ID tokens",
    ],
    [
      "an account without the member that is the user",
      { VENDOR_ACCOUNT_URL: "https://vendor.example.com/me" },
      "VENDOR_ACCOUNT_URL is set without VENDOR_IDENTITY",
    ],
    [
      "an account at a private host",
      { VENDOR_USERINFO_URL: "", VENDOR_ACCOUNT_URL: "https://10.0.0.1/me", VENDOR_IDENTITY: "id" },
      "VENDOR_ACCOUNT_URL must name a host of",
    ],
    [
      "the member of no account",
      {
        VENDOR_ISSUER: "https://vendor.example.com",
        VENDOR_SCOPES: "openid",
        VENDOR_USERINFO_URL: "",
        VENDOR_IDENTITY: "id",
      },
      "VENDOR_IDENTITY is set without VENDOR_ACCOUNT_URL, and VENDOR has no account of its own",
    ],
    [
      "another identity than the registry's",
      { ...NO_URLS, VENDOR: "github", VENDOR_SCOPES: "read:user", VENDOR_IDENTITY: "login" },
      "VENDOR_IDENTITY is set, and VENDOR identifies its users by itself",
    ],
    [
      "an identity that is no path",
      {
        VENDOR_ACCOUNT_URL: "https://vendor.example.com/me",
        VENDOR_USERINFO_URL: "https://vendor.example.com/u",
        VENDOR_IDENTITY: "a b",
      },
      "VENDOR_IDENTITY has an entry that must be the name of a member",
    ],
  ])("with %s", (_, changes, problem) => expectRefused({ ...HOSTED, ...changes }, problem));

  it.each<Row>([
    ["another registration", { OAUTH_DYNAMIC_REGISTRATION: "on" }, "OAUTH_DYNAMIC_REGISTRATION must be off or open"],
    [
      "an invalid registration host",
      { OAUTH_DYNAMIC_REGISTRATION_HOSTS: "*.example.com" },
      "has an entry that must be a host",
    ],
    [
      "a metadata host inside",
      { OAUTH_CLIENT_METADATA_HOSTS: "localhost" },
      "OAUTH_CLIENT_METADATA_HOSTS has an entry that must name",
    ],
    [
      "an invalid limit of registrations",
      { LIMITS_REGISTRATIONS_PER_MINUTE: "ten" },
      "LIMITS_REGISTRATIONS_PER_MINUTE must be a whole number",
    ],
  ])("with its own callback, and %s", (_, changes, problem) => expectRefused({ ...SERVER, ...changes }, problem));
});

describe("an environment in pre-registered mode is refused", () => {
  it.each<Row>([
    ["no mode", { OAUTH_MODE: undefined }, "OAUTH_MODE is missing"],
    ["an empty mode", { OAUTH_MODE: "" }, "OAUTH_MODE is missing"],
    ["another mode", { OAUTH_MODE: "Hosted" }, "OAUTH_MODE must be pre-registered or hosted"],
    ["a URL in the other mode", { DEPLOYMENT_URL: "https://a.example.com/x" }, "must not have a path"],
    ["a bad callback in the other mode", { PLATFORM_OAUTH_CALLBACK_URL: "x" }, "must be an absolute URI"],
    [
      "a secret without a client",
      { VENDOR_CLIENT_SECRET: "hush" },
      "VENDOR_CLIENT_SECRET is set without VENDOR_CLIENT_ID",
    ],
    [
      "a limit of refused tokens beyond the most",
      { LIMITS_REFUSED_TOKENS_PER_MINUTE: "1000001" },
      "LIMITS_REFUSED_TOKENS_PER_MINUTE must be a whole number",
    ],
    [
      "a client that tokens cannot be held to (#11)",
      { VENDOR_CLIENT_ID: "our-id", VENDOR_CLIENT_SECRET: "hush" },
      "VENDOR_CLIENT_ID is set, and VENDOR does not say which client a user's token was issued to: set VENDOR_INTROSPECTION_URL and VENDOR_CLIENT_SECRET, or unset",
    ],
    [
      "a client that tokens cannot be held to without its secret (#11)",
      { VENDOR_CLIENT_ID: "our-id", VENDOR_INTROSPECTION_URL: "https://vendor.example.com/introspect" },
      "VENDOR_CLIENT_ID is set, and VENDOR does not say which client a user's token was issued to: set VENDOR_CLIENT_SECRET, or unset",
    ],
    [
      "a client of a vendor with a check of its own, without its secret (#11)",
      { ...NO_URLS, VENDOR: "github", VENDOR_CLIENT_ID: "our-id" },
      "VENDOR_CLIENT_ID is set, and VENDOR does not say which client a user's token was issued to: set VENDOR_CLIENT_SECRET",
    ],
    [
      "no endpoint to check a token at",
      { VENDOR_USERINFO_URL: "" },
      "VENDOR has no endpoint that says whether a user's token is good: set VENDOR_USERINFO_URL or VENDOR_INTROSPECTION_URL",
    ],
    [
      "introspection without the secret it needs",
      { VENDOR_USERINFO_URL: "", VENDOR_INTROSPECTION_URL: "https://vendor.example.com/i" },
      "set VENDOR_CLIENT_ID and VENDOR_CLIENT_SECRET",
    ],
    [
      "an own vendor's issuer beside both URLs, and no userinfo",
      { VENDOR_USERINFO_URL: "", VENDOR_ISSUER: "https://vendor.example.com" },
      "VENDOR has no endpoint that says",
    ],
  ])("with %s", (_, changes, problem) => expectRefused({ ...PRE_REGISTERED, ...changes }, problem));

  it.each<Row>([
    [
      "an own vendor without places",
      { VENDOR: "my-vendor" },
      "VENDOR is not a vendor of the registry, and one of your own needs VENDOR_ISSUER",
    ],
    [
      "an own vendor with one place",
      { VENDOR: "my-vendor", VENDOR_TOKEN_URL: "https://vendor.example.com/token" },
      "needs VENDOR_ISSUER, or VENDOR_AUTHORIZATION_URL and VENDOR_TOKEN_URL",
    ],
    ["a misspelt vendor", { VENDOR: "githib" }, "(did you mean github?)"],
  ])("with %s", (_, changes, problem) => expectRefused({ OAUTH_MODE: "pre-registered", ...changes }, problem));
});
