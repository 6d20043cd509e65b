import { createServer } from "node:http";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { Secret } from "@oauth-broker/oauth-core";
import { createEgress } from "@oauth-broker/oauth-core/egress";
import { listen } from "@oauth-broker/oauth-core/testing";
import { NEW_SETTINGS } from "../../connectors/settings.ts";
import type { ConnectorSettings } from "../../connectors/connector.ts";
import { FIXTURE_CLIENT, FIXTURE_EXPOSE, type FixtureFault, fixtureServer } from "../../testing/fixture-server.ts";
import { CLIENT } from "../../testing/test-storage.ts";
import type { Check, Subject } from "./check.ts";
import { type ConnectionTest, testConnection } from "./connection-test.ts";

const egress = createEgress({ allowLoopback: true, allowCidrs: [], timeoutMs: 5_000 });
afterAll(() => egress.close());

const HOSTED: ConnectorSettings = { ...NEW_SETTINGS, authentication: "oauth_2_1", registration: "hosted_server" };
const ENTERED: ConnectorSettings = { ...NEW_SETTINGS, ...CLIENT };

/** The fixture without the ingress: it refuses itself what the ingress would refuse. */
async function test(fault: FixtureFault | undefined, over: Partial<Subject> = {}): Promise<ConnectionTest> {
  const server = createServer();
  const { port, close } = await listen(server);
  const deploymentUrl = `http://127.0.0.1:${port}`;
  server.on("request", fixtureServer(deploymentUrl, fault));
  onTestFinished(close);
  const subject: Subject = {
    mode: "hosted",
    expose: FIXTURE_EXPOSE,
    deploymentUrl,
    settings: HOSTED,
    callbackUrl: "https://platform.example/oauth/callback",
    platformToken: new Secret("platform-token"),
    ...over,
  };
  const reported: Check[] = [];
  const result = await testConnection(subject, { fetch: egress.fetch, onCheck: (check) => reported.push(check) });
  expect(reported).toEqual(result.checks);
  return result;
}

const lastOf = ({ checks }: ConnectionTest): Check => checks.at(-1)!;

describe("the connection test of a hosted server", () => {
  it("passes with challenge, token, discovery, settings, registration and authorization", async () => {
    const { outcome, checks } = await test(undefined);
    expect(checks.map(({ name }) => name)).toEqual([
      "challenge",
      "token",
      "discovery",
      "settings",
      "client",
      "authorization",
    ]);
    expect(checks.every(({ outcome }) => outcome === "passed")).toBe(true);
    expect(outcome).toBe("passed");
    expect(lastOf({ outcome, checks }).said).toContain("vendor.example");
  });

  it("passes where the server asks for consent itself", async () => {
    expect((await test("consent-page")).outcome).toBe("passed");
  });

  it("passes where the server has no metadata of its resource, which clients can do without", async () => {
    expect((await test("no-resource-metadata")).outcome).toBe("passed");
  });

  it("rfc6749#5.2 passes where the token endpoint asks for a client first", async () => {
    expect((await test("token-wants-client")).outcome).toBe("passed");
  });

  it.each(["global-auth", "global-forbidden"] as const)(
    "rfc6749#5.2 recognises a global auth middleware: %s",
    async (fault) => {
      const result = await test(fault);
      expect(result.outcome).toBe("failed");
      expect(lastOf(result)).toMatchObject({
        name: "discovery",
        said: expect.stringMatching(
          /^\/authorize answers 40[13] without a token: a global auth middleware is in front of the OAuth discovery routes/,
        ),
        remedy: expect.stringContaining("protect POST /mcp only"),
      });
    },
  );

  it.each([
    ["accepts-any-caller", "challenge", /answers 200, not 401/],
    ["no-challenge", "challenge", /answers 401, not 401 with WWW-Authenticate: Bearer/],
    ["redirects-discovery", "discovery", /answers 303/],
    ["foreign-resource", "discovery", /does not name .* as its authorization server/],
    ["resource-without-lists", "discovery", /does not describe/],
    ["server-without-lists", "discovery", /is not valid metadata of/],
    ["no-s256", "discovery", /PKCE/],
    ["endpoints-elsewhere", "discovery", /authorization_endpoint is missing or not below/],
    ["revoke-missing", "discovery", /\/revoke is listed under service\.expose, and the server has no such path/],
    ["register-refuses", "client", /Registration answers 400/],
    ["authorize-refuses", "authorization", /with an error: invalid_scope/],
    ["authorize-back-here", "authorization", /redirects back to the platform/],
    ["authorize-breaks", "authorization", /answers 400/],
  ] as const)("fails for a server with %s, at %s, and says how to remedy it", async (fault, name, said) => {
    const result = await test(fault);
    expect(result.outcome).toBe("failed");
    expect(lastOf(result)).toMatchObject({ name, outcome: "failed", said: expect.stringMatching(said) });
    expect(lastOf(result).remedy).toMatch(/\w/);
  });

  it("rfc8414#3.3 refuses an issuer that differs by a slash", async () => {
    const result = await test("foreign-issuer");
    expect(lastOf(result)).toMatchObject({
      outcome: "failed",
      said: expect.stringMatching(/is not valid metadata of/),
    });
  });

  it("a metadata endpoint that is not exposed is named", async () => {
    const result = await test(undefined, { expose: FIXTURE_EXPOSE.filter((path) => path !== "/register") });
    expect(lastOf(result)).toMatchObject({
      said: expect.stringContaining("registration_endpoint is not exposed"),
      remedy: expect.stringContaining("List /register under service.expose"),
    });
  });

  it("without registration it lacks a client, until an administrator enters one", async () => {
    const expose = FIXTURE_EXPOSE.filter((path) => path !== "/register");
    expect(await test("no-register", { expose })).toMatchObject({ outcome: "client_missing" });
    const settings = { ...HOSTED, clientId: FIXTURE_CLIENT };
    expect(await test("no-register", { expose, settings })).toMatchObject({ outcome: "passed" });
  });

  it("fails where the settings are for a pre-registered client", async () => {
    expect(lastOf(await test(undefined, { settings: ENTERED }))).toMatchObject({ name: "settings", outcome: "failed" });
  });

  it("a server that is not there fails the first question", async () => {
    const result = await test(undefined, { deploymentUrl: "http://127.0.0.1:1" });
    expect(result).toMatchObject({
      outcome: "failed",
      checks: [{ name: "challenge", said: expect.stringContaining("no usable answer") }],
    });
  });
});

describe("the connection test of a pre-registered server", () => {
  const mode = "pre-registered";

  it("gets 401, and passes with a client", async () => {
    expect(await test(undefined, { mode, expose: [], settings: ENTERED })).toMatchObject({ outcome: "passed" });
    const vendor = {
      ...NEW_SETTINGS,
      authentication: "oauth_2_1",
      registration: "broker",
      vendorOrIssuer: "x",
    } as const;
    expect(await test(undefined, { mode, expose: [], settings: vendor })).toMatchObject({ outcome: "passed" });
  });

  it.each<[string, ConnectorSettings]>([
    ["new settings", NEW_SETTINGS],
    ["no client id", { ...NEW_SETTINGS, authentication: "oauth_2_1", registration: "pre_registered_client" }],
  ])("gets 401 with no OAuth client configured: %s", async (_, settings) => {
    const result = await test(undefined, { mode, expose: [], settings });
    expect(result.outcome).toBe("client_missing");
    expect(lastOf(result)).toMatchObject({
      said: "The server answers 401, and no OAuth client is configured.",
      remedy: expect.stringContaining("Settings tab"),
    });
  });

  it.each<[string, Partial<ConnectorSettings>]>([
    ["no endpoint, and nothing to discover it from", { authorizationUrl: undefined, tokenUrl: undefined } as object],
    ["a vendor that is off", { vendorOrIssuer: "wechat", authorizationUrl: undefined, tokenUrl: undefined } as object],
    ["the settings of a hosted server", { registration: "hosted_server" }],
  ])("fails with %s", async (_, over) => {
    expect((await test(undefined, { mode, expose: [], settings: { ...ENTERED, ...over } })).outcome).toBe("failed");
  });

  it("fails where the server cannot check tokens", async () => {
    const result = await test("cannot-check", { mode, settings: ENTERED });
    expect(lastOf(result)).toMatchObject({
      outcome: "failed",
      said: "The server cannot check tokens now: it answers 503 (vendor_credentials_rejected).",
      remedy: expect.stringContaining("VENDOR_CLIENT_SECRET"),
    });
  });
});

describe("the connection test of a server without OAuth", () => {
  const none = { mode: "none", expose: [], settings: NEW_SETTINGS } as const;

  it("passes when the server answers initialize", async () => {
    expect(await test("no-oauth", none)).toMatchObject({ outcome: "passed", checks: [{ name: "initialize" }, {}] });
  });

  it("lacks a client when the server answers 401", async () => {
    expect(await test(undefined, none)).toMatchObject({ outcome: "client_missing" });
  });

  it("fails with settings for OAuth", async () => {
    expect(await test("no-oauth", { ...none, settings: HOSTED })).toMatchObject({ outcome: "failed" });
  });
});
