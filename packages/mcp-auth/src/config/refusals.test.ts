import { describe, expect, it } from "vitest";
import type { Environment } from "../config.ts";
import { HOSTED, NO_URLS, PRE_REGISTERED, problemsOf, SERVER, SEVERAL } from "../testing/environments.ts";

describe("a server's environment is refused", () => {
  it.each<[string, Environment, string]>([
    ...[" s", "s\t", '"s"', "'s'", "s\nt"].flatMap((value): [string, Environment, string][] => [
      ["a secret with something around it", { ...HOSTED, VENDOR_CLIENT_SECRET: value }, "VENDOR_CLIENT_SECRET must"],
      ["an id with something around it", { ...HOSTED, VENDOR_CLIENT_ID: value }, "VENDOR_CLIENT_ID must"],
      [
        "a secret of one of several vendors",
        { ...SEVERAL, VENDOR_SLACK_CLIENT_SECRET: value },
        "VENDOR_SLACK_CLIENT_SECRET must",
      ],
    ]),
    ["no mode", { ...PRE_REGISTERED, OAUTH_MODE: undefined }, "OAUTH_MODE is missing"],
    ["an empty mode", { ...PRE_REGISTERED, OAUTH_MODE: "" }, "OAUTH_MODE is missing"],
    ["another mode", { ...PRE_REGISTERED, OAUTH_MODE: "Hosted" }, "OAUTH_MODE must be pre-registered or hosted"],
    ["hosted without a URL", { ...HOSTED, DEPLOYMENT_URL: "" }, "DEPLOYMENT_URL is missing"],
    ["a path", { ...HOSTED, DEPLOYMENT_URL: "https://server.example.com/mcp" }, "DEPLOYMENT_URL must not have a path"],
    ["a slash", { ...HOSTED, DEPLOYMENT_URL: "https://server.example.com/" }, "must not end in a slash"],
    ["a query", { ...HOSTED, DEPLOYMENT_URL: "https://server.example.com?a=1" }, "must not have a query"],
    [
      "a fragment",
      { ...HOSTED, DEPLOYMENT_URL: "https://server.example.com#a" },
      "must not have a query or a fragment",
    ],
    ["http", { ...HOSTED, DEPLOYMENT_URL: "http://server.example.com" }, "must be https"],
    ["a user in the URL", { ...HOSTED, DEPLOYMENT_URL: "https://u@server.example.com" }, "user information"],
    [
      "a dot at the end",
      { ...HOSTED, DEPLOYMENT_URL: "https://server.example.com." },
      "must not end its host in a dot",
    ],
    ["a default port", { ...HOSTED, DEPLOYMENT_URL: "https://server.example.com:443" }, "must be in canonical form"],
    ["no URL at all", { ...HOSTED, DEPLOYMENT_URL: "server.example.com" }, "must be an absolute https URL"],
    ...["null", "https://app.example.com/", "https://*.example.com", "app.example.com", "*, null"].map(
      (ALLOWED_ORIGINS): [string, Environment, string] => [
        `${ALLOWED_ORIGINS} as an origin`,
        { ...HOSTED, ALLOWED_ORIGINS },
        "ALLOWED_ORIGINS has an entry that must be an origin",
      ],
    ),
    [
      "a URL in the other mode",
      { ...PRE_REGISTERED, DEPLOYMENT_URL: "https://a.example.com/x" },
      "must not have a path",
    ],
    [
      "an http callback",
      { ...HOSTED, PLATFORM_OAUTH_CALLBACK_URL: "http://p.example.com/cb" },
      "must be https, or http on",
    ],
    [
      "a callback with a fragment",
      { ...HOSTED, PLATFORM_OAUTH_CALLBACK_URL: "https://p.example.com/cb#x" },
      "fragment",
    ],
    [
      "a bad callback in the other mode",
      { ...PRE_REGISTERED, PLATFORM_OAUTH_CALLBACK_URL: "x" },
      "must be an absolute URI",
    ],
    [
      "the platform's callback without one",
      { ...HOSTED, OAUTH_CALLBACK: "platform", PLATFORM_OAUTH_CALLBACK_URL: "" },
      "PLATFORM_OAUTH_CALLBACK_URL is missing, and OAUTH_CALLBACK is platform",
    ],
    ["another callback", { ...HOSTED, OAUTH_CALLBACK: "both" }, "OAUTH_CALLBACK must be platform or server"],
    ["no vendor", { ...HOSTED, VENDOR: undefined }, "VENDOR is missing"],
    ["an invalid vendor id", { ...HOSTED, VENDOR: "My Vendor" }, "VENDOR must be a vendor id"],
    [
      "an own vendor without places",
      { OAUTH_MODE: "pre-registered", VENDOR: "my-vendor" },
      "VENDOR is not a vendor of the registry, and one of your own needs VENDOR_ISSUER",
    ],
    [
      "an own vendor with one place",
      { OAUTH_MODE: "pre-registered", VENDOR: "my-vendor", VENDOR_TOKEN_URL: "https://vendor.example.com/token" },
      "needs VENDOR_ISSUER, or VENDOR_AUTHORIZATION_URL and VENDOR_TOKEN_URL",
    ],
    ["a misspelt vendor", { OAUTH_MODE: "pre-registered", VENDOR: "githib" }, "(did you mean github?)"],
    [
      "a vendor whose refresh repeats part of the callback",
      { ...HOSTED, ...NO_URLS, VENDOR: "vk-id", VENDOR_USERINFO_URL: "https://vendor.example.com/u" },
      "VENDOR wants part of the callback again with each refresh",
    ],
    [
      "a vendor whose token request repeats part of the callback, at the platform's callback",
      { ...HOSTED, ...NO_URLS, VENDOR: "dropbox-sign", ALLOW_VENDOR_WITHOUT_PKCE: "true" },
      "OAUTH_CALLBACK must be server for VENDOR",
    ],
    ["a vendor that is off", { ...HOSTED, ...NO_URLS, VENDOR: "23andme" }, "VENDOR is off in the registry: "],
    [
      "an http endpoint",
      { ...HOSTED, VENDOR_TOKEN_URL: "http://vendor.example.com/token" },
      "VENDOR_TOKEN_URL must use https",
    ],
    [
      "a private host",
      { ...HOSTED, VENDOR_USERINFO_URL: "https://10.0.0.1/u" },
      "VENDOR_USERINFO_URL must name a host of",
    ],
    ["loopback", { ...HOSTED, VENDOR_ISSUER: "http://127.0.0.1:9000" }, "VENDOR_ISSUER must use https"],
    [
      "a fragment in an endpoint",
      { ...HOSTED, VENDOR_JWKS_URL: "https://vendor.example.com/#k" },
      "VENDOR_JWKS_URL must be",
    ],
    ["a revocation that is no URL", { ...HOSTED, VENDOR_REVOCATION_URL: "revoke" }, "VENDOR_REVOCATION_URL must be"],
    [
      "an introspection that is no URL",
      { ...HOSTED, VENDOR_INTROSPECTION_URL: "-" },
      "VENDOR_INTROSPECTION_URL must be",
    ],
    ["plain PKCE", { ...HOSTED, VENDOR_PKCE: "plain" }, "VENDOR_PKCE must be S256 or none"],
    [
      "placeholders that are no JSON",
      { ...HOSTED, VENDOR_PLACEHOLDERS: "{tenant:a}" },
      "VENDOR_PLACEHOLDERS does not fit",
    ],
    [
      "placeholders that are no strings",
      { ...HOSTED, VENDOR_PLACEHOLDERS: '{"a":1}' },
      "VENDOR_PLACEHOLDERS does not fit",
    ],
    [
      "an unknown placeholder",
      { ...HOSTED, VENDOR_PLACEHOLDERS: '{"tenant":"a"}' },
      "placeholder tenant is not one of",
    ],
    [
      "a placeholder without value",
      { ...HOSTED, VENDOR_TOKEN_URL: "https://{tenant}.vendor.example.com/token" },
      "placeholder tenant is missing",
    ],
    [
      "a placeholder that leads elsewhere",
      {
        ...HOSTED,
        VENDOR_TOKEN_URL: "https://{tenant}.vendor.example.com/token",
        VENDOR_PLACEHOLDERS: '{"tenant":"evil.example/"}',
      },
      "placeholder tenant has a value that does not fit",
    ],
    [
      "a private host by placeholder",
      { ...HOSTED, VENDOR_TOKEN_URL: "https://auth.{zone}/token", VENDOR_PLACEHOLDERS: '{"zone":"internal"}' },
      "VENDOR_TOKEN_URL must name a host of the public internet",
    ],
    [
      "braces without a name",
      { ...HOSTED, VENDOR_TOKEN_URL: "https://vendor.example.com/{}" },
      "braces that are no placeholder",
    ],
    ["hosted without a client", { ...HOSTED, VENDOR_CLIENT_ID: "" }, "VENDOR_CLIENT_ID is missing"],
    [
      "a secret without a client",
      { ...PRE_REGISTERED, VENDOR_CLIENT_SECRET: "hush" },
      "VENDOR_CLIENT_SECRET is set without VENDOR_CLIENT_ID",
    ],
    ["a secret with a line break", { ...HOSTED, VENDOR_CLIENT_SECRET: "a\nb" }, "none of them a control character"],
    [
      "scopes with quotes",
      { ...HOSTED, VENDOR_SCOPES: 'read "write"' },
      "VENDOR_SCOPES contains characters that are not allowed",
    ],
    [
      "scopes with commas",
      { ...HOSTED, VENDOR_SCOPES: "repo,user" },
      "VENDOR_SCOPES has a comma: separate scopes by spaces",
    ],
    [
      "a host with a port",
      { ...HOSTED, VENDOR_API_HOSTS: "api.example.com:443" },
      "VENDOR_API_HOSTS has an entry that must be a host",
    ],
    [
      "a host with a scheme",
      { ...HOSTED, VENDOR_API_HOSTS: "https://api.example.com" },
      "VENDOR_API_HOSTS has an entry",
    ],
    [
      "a URL that begins with a placeholder",
      { ...HOSTED, VENDOR_TOKEN_URL: "{host}/token" },
      "VENDOR_TOKEN_URL must be an",
    ],
    ["a host in capitals", { ...HOSTED, VENDOR_API_HOSTS: "API.example.com" }, "VENDOR_API_HOSTS has an entry"],
    ["every host there is", { ...HOSTED, VENDOR_API_HOSTS: ".com" }, "VENDOR_API_HOSTS has an entry that must"],
    [
      "every host of a country",
      { ...HOSTED, VENDOR_API_HOSTS: ".co.uk" },
      "all below a domain that many parties share",
    ],
    [
      "every host of a hoster",
      { ...HOSTED, VENDOR_API_HOSTS: ".vercel.app" },
      "all below a domain that many parties share",
    ],
    [
      "an address inside",
      { ...HOSTED, VENDOR_API_HOSTS: "169.254.169.254" },
      "must name a host of the public internet",
    ],
    [
      "an address in disguise",
      { ...HOSTED, VENDOR_API_HOSTS: "2130706433" },
      "VENDOR_API_HOSTS has an entry that must be a host",
    ],
    [
      "a table without region",
      { ...HOSTED, DB_TABLE_NAME: "tokens" },
      "DB_TABLE_REGION is needed beside DB_TABLE_NAME",
    ],
    [
      "no name of a table",
      { ...HOSTED, DB_TABLE_NAME: "a b", DB_TABLE_REGION: "eu-west-1" },
      "DB_TABLE_NAME is not a table's name",
    ],
    [
      "another encryption",
      { ...HOSTED, TOKEN_ENCRYPTION_MODE: "off" },
      "TOKEN_ENCRYPTION_MODE must be bridge or encrypted",
    ],
    [
      "an invalid key id",
      { ...HOSTED, TOKEN_ENCRYPTION_KMS_KEY_ID: "arn:aws:s3:::bucket" },
      "TOKEN_ENCRYPTION_KMS_KEY_ID names no key: enter the key's ARN",
    ],
    [
      "encryption without a key",
      { ...HOSTED, DB_TABLE_NAME: "tokens", DB_TABLE_REGION: "eu-west-1", TOKEN_ENCRYPTION_MODE: "encrypted" },
      "TOKEN_ENCRYPTION_KMS_KEY_ID is missing",
    ],
    [
      "another registration",
      { ...SERVER, OAUTH_DYNAMIC_REGISTRATION: "on" },
      "OAUTH_DYNAMIC_REGISTRATION must be off or open",
    ],
    [
      "an invalid registration host",
      { ...SERVER, OAUTH_DYNAMIC_REGISTRATION_HOSTS: "*.example.com" },
      "has an entry that must be a host",
    ],
    [
      "a metadata host inside",
      { ...SERVER, OAUTH_CLIENT_METADATA_HOSTS: "localhost" },
      "OAUTH_CLIENT_METADATA_HOSTS has an entry that must name",
    ],
    ["another register", { ...HOSTED, OAUTH_REGISTER: "false" }, "OAUTH_REGISTER must be on or off"],
    ["an invalid flag", { ...HOSTED, EGRESS_ALLOW_LOOPBACK: "1" }, "EGRESS_ALLOW_LOOPBACK must be true or false"],
    [
      "an invalid network",
      { ...HOSTED, EGRESS_ALLOW_CIDRS: "10.0.0.0" },
      "EGRESS_ALLOW_CIDRS has an entry that must be a network",
    ],
    [
      "an invalid proxy",
      { ...HOSTED, TRUSTED_PROXIES: "10.0.0.0/8,proxy" },
      "TRUSTED_PROXIES has an entry that must be a network",
    ],
    [
      "a host to listen on with a port",
      { ...HOSTED, HOST: "[::1]:80" },
      "HOST must be an address or a host name without port",
    ],
    ["a port too high", { ...HOSTED, PORT: "65536" }, "PORT must be a whole number from 0 to 65535"],
    ["an invalid port", { ...HOSTED, PORT: "http" }, "PORT must be a whole number"],
    [
      "a negative limit",
      { ...HOSTED, LIMITS_REQUESTS_PER_MINUTE: "-1" },
      "LIMITS_REQUESTS_PER_MINUTE must be a whole number",
    ],
    [
      "an invalid limit of registrations",
      { ...SERVER, LIMITS_REGISTRATIONS_PER_MINUTE: "ten" },
      "LIMITS_REGISTRATIONS_PER_MINUTE must be a whole number",
    ],
    [
      "a limit of refused tokens beyond the most",
      { ...PRE_REGISTERED, LIMITS_REFUSED_TOKENS_PER_MINUTE: "1000001" },
      "LIMITS_REFUSED_TOKENS_PER_MINUTE must be a whole number",
    ],
    [
      "a client that tokens cannot be held to (#11)",
      { ...PRE_REGISTERED, VENDOR_CLIENT_ID: "our-id", VENDOR_CLIENT_SECRET: "hush" },
      "VENDOR_CLIENT_ID is set, and VENDOR does not say which client a user's token was issued to: set VENDOR_INTROSPECTION_URL and VENDOR_CLIENT_SECRET, or unset",
    ],
    [
      "a client that tokens cannot be held to without its secret (#11)",
      {
        ...PRE_REGISTERED,
        VENDOR_CLIENT_ID: "our-id",
        VENDOR_INTROSPECTION_URL: "https://vendor.example.com/introspect",
      },
      "VENDOR_CLIENT_ID is set, and VENDOR does not say which client a user's token was issued to: set VENDOR_CLIENT_SECRET, or unset",
    ],
    [
      "a client of a vendor with a check of its own, without its secret (#11)",
      { ...PRE_REGISTERED, ...NO_URLS, VENDOR: "github", VENDOR_CLIENT_ID: "our-id" },
      "VENDOR_CLIENT_ID is set, and VENDOR does not say which client a user's token was issued to: set VENDOR_CLIENT_SECRET",
    ],
    [
      "an invalid allowance",
      { ...HOSTED, ALLOW_VENDOR_WITHOUT_PKCE: "yes" },
      "ALLOW_VENDOR_WITHOUT_PKCE must be true or false",
    ],
    ["rfc9700#2.1.1 no PKCE", { ...HOSTED, VENDOR_PKCE: "none" }, "VENDOR has neither PKCE nor ID tokens"],
    [
      "rfc9700#2.1.1 no PKCE and an issuer without openid",
      { ...HOSTED, VENDOR_PKCE: "none", VENDOR_ISSUER: "https://vendor.example.com", VENDOR_SCOPES: "read" },
      "VENDOR has neither PKCE nor ID tokens",
    ],
    [
      "no endpoint to check a token at",
      { ...PRE_REGISTERED, VENDOR_USERINFO_URL: "" },
      "VENDOR has no endpoint that says whether a user's token is good: set VENDOR_USERINFO_URL or VENDOR_INTROSPECTION_URL",
    ],
    [
      "introspection without the secret it needs",
      { ...PRE_REGISTERED, VENDOR_USERINFO_URL: "", VENDOR_INTROSPECTION_URL: "https://vendor.example.com/i" },
      "set VENDOR_CLIENT_ID and VENDOR_CLIENT_SECRET",
    ],
    ...[
      {},
      { VENDOR_ISSUER: "https://vendor.example.com" },
      { VENDOR_ISSUER: "https://vendor.example.com", VENDOR_SCOPES: "profile" },
      { ...NO_URLS, VENDOR: "tumblr" },
      { ...NO_URLS, VENDOR: "squarespace" },
    ].map((fields): [string, Record<string, string>, string] => [
      `a vendor that identifies no user: ${JSON.stringify(fields)}`,
      { ...HOSTED, VENDOR_USERINFO_URL: "", ...fields },
      "VENDOR does not identify its users, so every authorization would fail: set VENDOR_USERINFO_URL, VENDOR_ACCOUNT_URL with VENDOR_IDENTITY, or",
    ]),
    [
      "an account without the member that is the user",
      { ...HOSTED, VENDOR_ACCOUNT_URL: "https://vendor.example.com/me" },
      "VENDOR_ACCOUNT_URL is set without VENDOR_IDENTITY",
    ],
    [
      "an account at a private host",
      { ...HOSTED, VENDOR_USERINFO_URL: "", VENDOR_ACCOUNT_URL: "https://10.0.0.1/me", VENDOR_IDENTITY: "id" },
      "VENDOR_ACCOUNT_URL must name a host of",
    ],
    [
      "the member of no account",
      {
        ...HOSTED,
        VENDOR_ISSUER: "https://vendor.example.com",
        VENDOR_SCOPES: "openid",
        VENDOR_USERINFO_URL: "",
        VENDOR_IDENTITY: "id",
      },
      "VENDOR_IDENTITY is set without VENDOR_ACCOUNT_URL, and VENDOR has no account of its own",
    ],
    [
      "another identity than the registry's",
      { ...HOSTED, ...NO_URLS, VENDOR: "github", VENDOR_SCOPES: "read:user", VENDOR_IDENTITY: "login" },
      "VENDOR_IDENTITY is set, and VENDOR identifies its users by itself",
    ],
    [
      "an identity that is no path",
      {
        ...HOSTED,
        VENDOR_ACCOUNT_URL: "https://vendor.example.com/me",
        VENDOR_USERINFO_URL: "https://vendor.example.com/u",
        VENDOR_IDENTITY: "a b",
      },
      "VENDOR_IDENTITY must be paths of members",
    ],
    [
      "an own vendor's issuer beside both URLs, and no userinfo",
      { ...PRE_REGISTERED, VENDOR_USERINFO_URL: "", VENDOR_ISSUER: "https://vendor.example.com" },
      "VENDOR has no endpoint that says",
    ],
  ])("with %s", (_, environment, problem) => {
    const problems = problemsOf(environment);
    expect(problems, problems.join("\n")).toEqual([expect.stringContaining(problem)]);
  });
});
