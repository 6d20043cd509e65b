import { describe, expect, it } from "vitest";
import { describeVariables, loadSettings } from "../config.ts";
import { NO_URLS, PRE_REGISTERED, problemsOf, refusalOf, SERVER } from "../testing/environments.ts";

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
});
