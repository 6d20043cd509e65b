import { describe, expect, it } from "vitest";
import { type Environment, loadSettings } from "../config.ts";
import { HOSTED, NO_URLS, PRE_REGISTERED, SERVER } from "../testing/environments.ts";

describe("a warning reports", () => {
  it.each<[string, Environment, string]>([
    [
      "clients beside the platform's callback",
      { ...HOSTED, OAUTH_CLIENTS: "[]" },
      "OAUTH_CLIENTS is set, and not used in hosted mode with the platform's callback",
    ],
    [
      "the platform's switch beside the server's callback",
      { ...SERVER, OAUTH_CLIENT_METADATA_HOSTS: "a.example.com", OAUTH_REGISTER: "off" },
      "OAUTH_REGISTER is set, and not used",
    ],
    [
      "hosted variables in the other mode",
      { ...PRE_REGISTERED, OAUTH_CALLBACK: "server" },
      "OAUTH_CALLBACK is set, and not used in pre-registered mode",
    ],
    [
      "limits in the other mode",
      { ...PRE_REGISTERED, LIMITS_REQUESTS_PER_MINUTE: "5" },
      "LIMITS_REQUESTS_PER_MINUTE is set, and not used",
    ],
    [
      "consent for the server key in the other mode",
      { ...PRE_REGISTERED, ADOPT_UNSEALED_SERVER_KEY: "true" },
      "ADOPT_UNSEALED_SERVER_KEY is set, and not used in pre-registered mode",
    ],
    [
      "a limit of registrations where no client registers itself",
      { ...HOSTED, LIMITS_REGISTRATIONS_PER_MINUTE: "5" },
      "LIMITS_REGISTRATIONS_PER_MINUTE is set, and not used",
    ],
    [
      "a misspelt variable",
      { ...PRE_REGISTERED, VENDOR_SCOPE: "a" },
      "VENDOR_SCOPE is set, and not known here: did you mean VENDOR_SCOPES?",
    ],
    [
      "a name without a word",
      { ...PRE_REGISTERED, VENDOR_SECRET: "a" },
      "VENDOR_SECRET is set, and not known here: did you mean VENDOR_CLIENT_SECRET?",
    ],
    [
      "a vendor among several without their list",
      { ...PRE_REGISTERED, VENDOR_SLACK_CLIENT_ID: "a" },
      "VENDOR_SLACK_CLIENT_ID is of one vendor among several, and VENDORS is not set",
    ],
    [
      "a misspelt first word",
      { ...PRE_REGISTERED, LIMIT_REFUSED_TOKENS_PER_MINUTE: "5" },
      "LIMIT_REFUSED_TOKENS_PER_MINUTE is set, and not known here: did you mean LIMITS_REFUSED_TOKENS_PER_MINUTE?",
    ],
    [
      "lower case",
      { ...PRE_REGISTERED, vendor_scopes: "a" },
      "vendor_scopes is set, and not known here: did you mean VENDOR_SCOPES?",
    ],
    ["half a name", { ...PRE_REGISTERED, DB_TABLE: "a" }, "DB_TABLE is set, and not known here"],
    [
      "misspelt origins",
      { ...PRE_REGISTERED, ALLOWED_ORIGIN: "https://a.example.com" },
      "ALLOWED_ORIGIN is set, and not known here: did you mean ALLOWED_ORIGINS?",
    ],
    [
      "misspelt proxies",
      { ...PRE_REGISTERED, TRUSTED_PROXY: "10.0.0.0/8" },
      "TRUSTED_PROXY is set, and not known here: did you mean TRUSTED_PROXIES?",
    ],
    [
      "registration hosts without registration",
      { ...SERVER, OAUTH_CLIENT_METADATA_HOSTS: "a.example.com", OAUTH_DYNAMIC_REGISTRATION_HOSTS: "b.example.com" },
      "OAUTH_DYNAMIC_REGISTRATION is off",
    ],
    [
      "registration beside a list of hosts",
      {
        ...SERVER,
        OAUTH_CLIENT_METADATA_HOSTS: "a.example.com",
        OAUTH_DYNAMIC_REGISTRATION: "open",
        OAUTH_DYNAMIC_REGISTRATION_HOSTS: "b.example.com",
      },
      "OAUTH_DYNAMIC_REGISTRATION is open beside OAUTH_CLIENT_METADATA_HOSTS",
    ],
    ["documents of any host", { ...SERVER, OAUTH_CLIENT_METADATA_HOSTS: "*" }, "OAUTH_CLIENT_METADATA_HOSTS is *"],
    ["registration of any host", { ...SERVER, OAUTH_DYNAMIC_REGISTRATION: "open" }, "open to clients of any host"],
    [
      "a reachable server without a name",
      { ...PRE_REGISTERED, HOST: "0.0.0.0" },
      "requests under any host name are answered",
    ],
    [
      "a proxy that is not named",
      { ...HOSTED, TRUSTED_PROXIES: "" },
      "TRUSTED_PROXIES is not set although DEPLOYMENT_URL is https",
    ],
    [
      "proxies everywhere",
      { ...HOSTED, TRUSTED_PROXIES: "0.0.0.0/0" },
      "TRUSTED_PROXIES holds a network of every address",
    ],
    [
      "a secret that a vendor's clients have, and this one has not",
      { ...HOSTED, ...NO_URLS, VENDOR: "github", VENDOR_CLIENT_SECRET: "" },
      "VENDOR_CLIENT_SECRET is not set: if your client at VENDOR has a secret",
    ],
    [
      "an approval that must come first",
      { ...PRE_REGISTERED, ...NO_URLS, VENDOR: "google-workspace" },
      "VENDOR approves each organization first",
    ],
  ])("of %s", (_, environment, warning) => {
    expect(loadSettings(environment).warnings).toEqual([expect.stringContaining(warning)]);
  });

  it("nothing of what the platform always sets", () => {
    const platform = {
      PLATFORM_OAUTH_CALLBACK_URL: "https://platform.example.com/oauth/callback",
      DB_TABLE_NAME: "tokens",
      DB_TABLE_REGION: "eu-west-1",
      TOKEN_ENCRYPTION_MODE: "encrypted",
      PATH: "/bin",
      HOME: "/root",
      POST: "1",
      DATADIR: "/data",
      DATABASE_URL: "x",
      SERVICE_NAME: "x",
      DEPLOYMENT: "blue",
    };
    expect(loadSettings({ ...PRE_REGISTERED, ...platform }).warnings).toEqual([]);
  });
});
