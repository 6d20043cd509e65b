import { describe, expect, it } from "vitest";
import { describeVariables, type Environment, loadSettings } from "../config.ts";
import { HOSTED, NO_URLS, PRE_REGISTERED, problemsOf, refusalOf, SERVER, SEVERAL } from "../testing/environments.ts";

describe("a server's environment is refused", () => {
  it("with all its problems at once, each with shape and example", () => {
    const environment = {
      OAUTH_MODE: "hosted",
      PORT: "x",
      VENDOR: "my-vendor",
      VENDOR_TOKEN_URL: "http://vendor.example.com",
      VENDOR_SCOPES: '"',
      VENDOR_API_HOSTS: "a b, .com",
      OAUTH_CALLBACK: "server",
      OAUTH_CLIENTS: "[{}, 1]",
      TRUSTED_PROXIES: "1",
      DB_TABLE_NAME: "a table",
    };
    const error = refusalOf(() => loadSettings(environment));
    expect(new Set(error.problems.map(({ path }) => path))).toEqual(
      new Set([
        "DEPLOYMENT_URL",
        "PORT",
        "TRUSTED_PROXIES",
        "VENDOR_TOKEN_URL",
        "VENDOR",
        "VENDOR_CLIENT_ID",
        "VENDOR_SCOPES",
        "VENDOR_API_HOSTS",
        "OAUTH_CLIENTS",
        "DB_TABLE_REGION",
        "DB_TABLE_NAME",
      ]),
    );
    for (const { expected, example, path } of error.problems) {
      expect(expected).not.toBe("");
      expect(example).toMatch(new RegExp(`^${path}=.`));
    }
    expect(error.message).toMatch(/^The server cannot start: \d+ problems in its environment\n/);
  });

  it("without a value in the message: it may be a secret in the wrong place", () => {
    const canary = "canary-4f1c";
    for (const { name } of describeVariables()) {
      for (const value of [`${canary}"{\n`, `[{"client_id":"${canary} ","${canary}":1}]`, `{"tenant":"${canary}/"}`]) {
        const environment = { ...SERVER, PORT: "no port", [name]: value };
        expect(refusalOf(() => loadSettings(environment)).message, name).not.toContain(canary);
      }
    }
  });

  it("a switch that cannot be read is refused without problems that its value may have caused", () => {
    const local = { VENDOR_ISSUER: "http://127.0.0.1:9000", VENDOR_USERINFO_URL: "http://127.0.0.1:9000/me" };
    const environment = { ...PRE_REGISTERED, ...NO_URLS, VENDOR: "my-own", ...local };
    expect(problemsOf({ ...environment, EGRESS_ALLOW_LOOPBACK: "1" })).toEqual([
      "EGRESS_ALLOW_LOOPBACK must be true or false",
    ]);
    expect(problemsOf(environment)).toContain("VENDOR_ISSUER must use https");
  });

  it.each<readonly [string, Environment, string]>([
    [
      "of a client in pre-registered mode",
      { OAUTH_MODE: "pre-registered", VENDOR: "github", VENDOR_CLIENT_ID: "our-id", VENDOR_CLIENT_SECRET: '"s"' },
      "VENDOR_CLIENT_SECRET must not begin or end with a quotation mark",
    ],
    [
      "of the account that identifies users",
      {
        ...HOSTED,
        VENDOR_USERINFO_URL: "",
        VENDOR_ACCOUNT_URL: "https://vendor.example.com/me",
        VENDOR_IDENTITY: "a b",
      },
      "VENDOR_IDENTITY has an entry that must be the name of a member",
    ],
    [
      "of scopes that bind a code",
      { ...HOSTED, VENDOR_ISSUER: "https://vendor.example.com", VENDOR_PKCE: "none", VENDOR_SCOPES: "openid,read" },
      "VENDOR_SCOPES has a comma",
    ],
    [
      "of the list of vendors",
      { ...SEVERAL, VENDORS: '"main,slack"', SIGN_IN: "main" },
      "VENDORS has an entry that must",
    ],
  ])("a value %s that cannot be read is the only problem", (_, environment, problem) => {
    expect(problemsOf(environment)).toEqual([expect.stringContaining(problem)]);
  });
});
