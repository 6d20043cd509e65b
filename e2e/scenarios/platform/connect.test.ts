/**
 * The reference platform and the MCP server template in each mode: users connect, and the agent
 * makes calls for each of them. Cancelled and disconnected: chromium.test.ts. Through the broker:
 * journeys.test.ts, and every practice vendor in ../vendors/sandbox.test.ts.
 */
import * as oauth from "oauth4webapi";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../../support/free-port.ts";
import { authorizeClient } from "../../support/mcp/client-oauth.ts";
import { type ServerInProcess, serveTemplate } from "../../support/mcp/in-process.ts";
import { hostedEnvironment } from "../../support/mcp/process.ts";
import { OUR_CLIENT, startGitHubVendor, startOpenIdVendor } from "../../support/mcp/vendor.ts";
import { startPlatform } from "../../support/reference-platform/harness.ts";
import { shared } from "@oauth-broker/oauth-core/testing";

const platform = shared(startPlatform);
const vendor = shared(() => {
  const own = ["hosted", "unregistered"].map((id) => platform.ownCallback(id));
  return startGitHubVendor({ redirectUris: [platform.callback, ...own] });
});
const servers: ServerInProcess[] = [];

const first = shared(() => platform.visitor("first-user"));
const second = shared(() => platform.visitor("second-user"));
afterAll(() => Promise.all(servers.map((server) => server.stop())));

/** @param hosted its connector */
async function startServer(env: Readonly<Record<string, string>>, hosted?: string): Promise<ServerInProcess> {
  const callback = hosted === undefined ? platform.callback : platform.ownCallback(hosted);
  const server = await serveTemplate({ ...env, PLATFORM_OAUTH_CALLBACK_URL: callback });
  servers.push(server);
  return server;
}

const loginOf = (text: string): unknown => (JSON.parse(text) as { readonly login?: string }).login;

describe("a hosted server", () => {
  beforeAll(async () => {
    const server = await startServer({ ...(await hostedEnvironment()), ...vendor.env }, "hosted");
    await platform.addConnector("hosted", server.mcp, { authentication: "oauth_2_1", registration: "hosted_server" });
  });

  it("is connected by two users, and called as each of them", async () => {
    expect(await first.connect("hosted", { account: "user" })).toContain("<dd>Connected</dd>");
    expect(await second.connect("hosted", { account: "operator" })).toContain("<dd>Connected</dd>");
    const logins = [loginOf(await first.callTool("hosted")), loginOf(await second.callTool("hosted"))];
    expect(logins.every((login) => typeof login === "string" && login !== "")).toBe(true);
    expect(new Set(logins).size).toBe(2);
  });

  it("gets new tokens when the old ones end", async () => {
    const before = loginOf(await first.callTool("hosted"));
    platform.advance(3600);
    expect(loginOf(await first.callTool("hosted"))).toBe(before);
  });
});

describe("a hosted server that registers no clients", () => {
  it("is connected once an administrator entered its client", async () => {
    const server = await startServer(
      { ...(await hostedEnvironment()), ...vendor.env, OAUTH_REGISTER: "off" },
      "unregistered",
    );
    const hosted = { authentication: "oauth_2_1", registration: "hosted_server" } as const;
    await platform.addConnector("unregistered", server.mcp, hosted);
    await first.submit("/connectors/unregistered", "/connectors/unregistered/connect");
    expect(await first.read("/connectors/unregistered")).toContain(
      "has no OAuth client. An administrator has to enter one",
    );
    const administrator = await platform.visitor("admin");
    const page = "/connectors/unregistered/settings";
    await administrator.submit(page, page, { ...hosted, clientId: "platform" });
    expect(await first.connect("unregistered")).toContain("<dd>Connected</dd>");
    expect(loginOf(await first.callTool("unregistered"))).toBeDefined();
  });
});

describe("a hosted server whose vendor sends iss", () => {
  const openId = shared(() =>
    startOpenIdVendor({
      clients: [{ clientId: OUR_CLIENT, clientSecret: "replaced", redirectUris: [platform.ownCallback("openid")] }],
    }),
  );
  beforeAll(async () => {
    const env = { ...openId.env, VENDOR_CLIENT_SECRET: "replaced" };
    const server = await startServer({ ...(await hostedEnvironment()), ...env }, "openid");
    await platform.addConnector("openid", server.mcp, { authentication: "oauth_2_1", registration: "hosted_server" });
  });

  it("rfc9207#2.4 is refused by a standard client, and finished by this platform", async () => {
    const back = await first.toCallback("openid");
    expect(back.searchParams.get("iss")).toBe(openId.provider.issuer);
    const issuer = new URL(servers.at(-1)?.url ?? "");
    const http = { [oauth.allowInsecureRequests]: true };
    const as = await oauth.processDiscoveryResponse(
      issuer,
      await oauth.discoveryRequest(issuer, { algorithm: "oauth2", ...http }),
    );
    const state = back.searchParams.get("state") ?? "";
    expect(() => oauth.validateAuthResponse(as, { client_id: "platform" }, back, state)).toThrow(/iss/);
    const stock = authorizeClient(servers.at(-1)?.mcp ?? "", {
      era: "modern",
      account: "user",
      callback: platform.ownCallback("openid"),
    });
    await expect(stock).rejects.toThrow("Issuer mismatch");
    await first.read(back.href);
    expect(await first.read("/connectors/openid")).toContain("<dd>Connected</dd>");
    expect(JSON.parse(await first.callTool("openid"))).toMatchObject({ sub: expect.any(String) });
  });

  it("rfc9207#2.4 is refused here too when it names another issuer", async () => {
    const back = await second.toCallback("openid");
    back.searchParams.set("iss", "https://other.example");
    await second.read(back.href);
    expect(await second.read("/connectors/openid")).toMatch(/another issuer[^]*Not connected/);
  });
});

describe("a server with a pre-registered client", () => {
  let server: ServerInProcess;
  beforeAll(async () => {
    const port = String(await freePort());
    server = await startServer({ OAUTH_MODE: "pre-registered", PORT: port, ...vendor.env });
    await platform.addConnector("pre-registered", server.mcp, {});
  });

  it("is called with the user's vendor token once an administrator entered the client", async () => {
    const administrator = await platform.visitor("admin");
    const page = "/connectors/pre-registered/settings";
    const { location } = await administrator.submit(page, page, {
      authentication: "oauth_2_1",
      registration: "pre_registered_client",
      vendorOrIssuer: "github",
      clientId: OUR_CLIENT,
      clientSecret: vendor.env["VENDOR_CLIENT_SECRET"] ?? "",
      authorizationUrl: vendor.env["VENDOR_AUTHORIZATION_URL"] ?? "",
      tokenUrl: vendor.env["VENDOR_TOKEN_URL"] ?? "",
      scopes: "read:user",
    });
    expect(location).toBe(`${page}?saved`);
    expect(await first.connect("pre-registered")).toContain("<dd>Connected</dd>");
    expect(loginOf(await first.callTool("pre-registered"))).toBeDefined();
  });

  it("is to be connected again when the vendor ended the token", async () => {
    vendor.github.disconnect("user", OUR_CLIENT);
    // The server caches its validation for seconds, so the tool notices first.
    expect(await first.callTool("pre-registered")).not.toContain("login");
    expect(await first.callTool("pre-registered")).toContain("You are not connected");
    expect(await first.read("/connectors/pre-registered")).toContain("Connect again:");
  });
});
