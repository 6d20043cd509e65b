import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AtlassianSimulator } from "./atlassian.ts";
import { startAtlassianHarness, type AtlassianHarness } from "./testing/atlassian-harness.ts";
import { bearer, CALLBACK, getJson, goThrough, pageOf, OTHER_VERIFIER, postForm, postJson } from "./testing/http.ts";

const DAY = 24 * 3600;
const dead = { error: "invalid_grant", error_description: "Unknown or invalid refresh token." };

let harness: AtlassianHarness;
let atlassian: AtlassianSimulator;
beforeEach(async () => {
  harness = await startAtlassianHarness();
  ({ atlassian } = harness);
});
afterEach(() => atlassian.close());

const whoAmI = (accessToken: unknown) => getJson(`${atlassian.url}/me`, bearer(accessToken));
const callMcp = (accessToken: unknown) => postJson(atlassian.mcpServer, { id: 1 }, bearer(accessToken));

/** In its insertion form. */
const metadataUrl = () =>
  `${atlassian.url}/.well-known/oauth-authorization-server${new URL(atlassian.endpoints["issuer"]!).pathname}`;

describe("discovery and registration", () => {
  it("leads from the MCP server to an issuer with a path, by the insertion form", async () => {
    const anonymous = await postJson(atlassian.mcpServer, {});
    expect(anonymous.status).toBe(401);
    expect(anonymous.headers.get("WWW-Authenticate")).toContain('error="invalid_token"');
    const resource = /resource_metadata="([^"]+)"/.exec(anonymous.headers.get("WWW-Authenticate") ?? "")?.[1];
    const { issuer } = atlassian.endpoints;
    expect((await getJson(resource!)).body).toMatchObject({
      resource: atlassian.mcpServer,
      authorization_servers: [issuer],
    });
    const metadata = await getJson(metadataUrl());
    const { userinfo_endpoint: _own, ...published } = atlassian.endpoints;
    expect(metadata.body).toMatchObject({ ...published, code_challenge_methods_supported: ["S256"] });
  });

  it("registers anyone, with the method they ask for", async () => {
    const open = await harness.register();
    expect(open).toMatchObject({
      status: 201,
      body: { token_endpoint_auth_method: "none", redirect_uris: [CALLBACK] },
    });
    expect(open.body).not.toHaveProperty("client_secret");
    const secret = await harness.register({ token_endpoint_auth_method: "client_secret_basic" });
    expect(secret.body).toMatchObject({ client_secret: expect.stringMatching(/^ATOA/), client_secret_expires_at: 0 });
    expect(await harness.register({ redirect_uris: [] })).toMatchObject({
      status: 400,
      body: { error: "invalid_redirect_uri" },
    });
  });
});

describe("connect", () => {
  it("answers a code for one site, then tokens for the MCP server", async () => {
    const callback = await goThrough(harness.mcp.authorizeUrl());
    expect(callback).toEqual({ state: "s1", code: expect.any(String) });
    const { status, body } = await harness.mcp.redeem(callback["code"], { resource: atlassian.mcpServer });
    expect([status, body]).toEqual([
      200,
      {
        access_token: expect.any(String),
        refresh_token: expect.any(String),
        expires_in: 3600,
        token_type: "Bearer",
        scope: "offline_access read:me read:jira-work",
      },
    ]);
    const answer = await callMcp(body["access_token"]);
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining(atlassian.settings.sites[0]!.id)]);
    expect(answer.text).not.toContain(atlassian.settings.sites[1]!.id);
    harness.now.advance(3600);
    expect((await callMcp(body["access_token"])).status).toBe(401);
  });

  it("says whose it is, to a token with the scope for that", async () => {
    const { access_token: accessToken } = await harness.mcp.connect();
    const account = {
      account_id: "user",
      email: "user@sandbox.example",
      name: "Sample user",
      account_status: "active",
    };
    expect((await whoAmI(accessToken)).body).toEqual(account);
    const { access_token: without } = await harness.mcp.connect({ scope: "read:jira-work" });
    expect((await whoAmI(without)).status).toBe(403);
  });

  it("lets the person choose another of several sites", async () => {
    const other = atlassian.settings.sites[1]!.id;
    atlassian.settings.chosenSite = other;
    const { access_token: accessToken } = await harness.mcp.connect();
    expect((await callMcp(accessToken)).text).toContain(other);
  });

  it("gives no refresh token without offline_access", async () => {
    expect(await harness.mcp.connect({ scope: "read:me" })).not.toHaveProperty("refresh_token");
  });

  it("needs the resource, the same at both endpoints, unless configured otherwise", async () => {
    for (const resource of [undefined, `${atlassian.mcpServer}/`]) {
      const page = await pageOf(harness.mcp.authorizeUrl({ resource }));
      expect([page.status, page.text]).toEqual([400, expect.stringContaining("Invalid context provided")]);
    }
    const { code } = await goThrough(harness.mcp.authorizeUrl());
    expect(await harness.mcp.redeem(code, { resource: `${atlassian.mcpServer}/` })).toMatchObject({
      status: 400,
      body: { error: "invalid_target", error_description: "Incorrect resource parameters" },
    });
    atlassian.settings.resourceRequired = false;
    expect(await harness.mcp.connect({ resource: undefined })).toHaveProperty("access_token");
  });

  it("needs S256", async () => {
    const without = { code_challenge: undefined, code_challenge_method: undefined };
    for (const query of [without, { code_challenge_method: "plain" }]) {
      expect(await pageOf(harness.mcp.authorizeUrl(query))).toMatchObject({ status: 400 });
    }
    const { code } = await goThrough(harness.mcp.authorizeUrl());
    expect(await harness.mcp.redeem(code, { code_verifier: OTHER_VERIFIER })).toMatchObject({
      status: 403,
      body: { error: "invalid_grant" },
    });
  });
});

describe("refresh", () => {
  it("rotates without grace: the old token is dead, the new one goes on", async () => {
    const first = await harness.mcp.connect();
    const second = await harness.mcp.refresh(first["refresh_token"]);
    expect(second.body["refresh_token"]).not.toBe(first["refresh_token"]);
    expect(await harness.mcp.refresh(first["refresh_token"])).toMatchObject({ status: 403, body: dead });
    expect((await harness.mcp.refresh(second.body["refresh_token"])).status).toBe(200);
  });

  it("gives one of two parallel refreshes a 403", async () => {
    const { refresh_token: refreshToken } = await harness.mcp.connect();
    const answers = await Promise.all([harness.mcp.refresh(refreshToken), harness.mcp.refresh(refreshToken)]);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 403]));
  });

  it("answers the other of the two errors when set so, also to a token it never issued", async () => {
    expect(await harness.mcp.refresh("none")).toMatchObject({ status: 403, body: dead });
    atlassian.settings.deadRefreshAnswer = "unauthorized_client";
    expect(await harness.mcp.refresh("none")).toMatchObject({
      status: 403,
      body: { error: "unauthorized_client", error_description: "refresh_token is invalid" },
    });
  });

  it("ends after 90 days without use and after 365 in all", async () => {
    let { refresh_token: token } = await harness.mcp.connect();
    for (let n = 0; n < 4; n += 1) {
      harness.now.advance(90 * DAY - 1);
      const { status, body } = await harness.mcp.refresh(token);
      expect(status).toBe(200);
      token = body["refresh_token"];
    }
    harness.now.advance(5 * DAY + 4);
    expect(await harness.mcp.refresh(token)).toMatchObject({ status: 403, body: dead });
    const { refresh_token: idle } = await harness.mcp.connect();
    harness.now.advance(90 * DAY);
    expect(await harness.mcp.refresh(idle)).toMatchObject({ status: 403, body: dead });
  });
});

describe("ending", () => {
  it("has a revocation endpoint until it is switched off", async () => {
    const { refresh_token: refreshToken } = await harness.mcp.connect();
    const { client_id: clientId = "" } = Object.fromEntries(harness.mcp.authorizeUrl().searchParams);
    const endpoint = atlassian.endpoints["revocation_endpoint"] ?? "";
    const revoke = () => postForm(endpoint, { client_id: clientId, token: String(refreshToken) });
    atlassian.settings.publishesRevocation = false;
    expect((await getJson(metadataUrl())).body).not.toHaveProperty("revocation_endpoint");
    expect((await revoke()).status).toBe(404);
    expect(atlassian.isLive(String(refreshToken))).toBe(true);
    atlassian.settings.publishesRevocation = true;
    expect((await getJson(metadataUrl())).body).toMatchObject({ revocation_endpoint: endpoint });
    expect((await revoke()).status).toBe(200);
    expect(atlassian.liveTokens()).toEqual([]);
  });

  it("ends when the person removes the app", async () => {
    const { refresh_token: refreshToken } = await harness.mcp.connect();
    atlassian.disconnect("user", harness.mcp.authorizeUrl().searchParams.get("client_id")!);
    expect(await harness.mcp.refresh(refreshToken)).toMatchObject({ status: 403, body: dead });
  });
});

describe("refusals", () => {
  it.each(["cancel", "cancel-sign-in"] as const)("answers access_denied on %s", async (decision) => {
    const answer = { state: "s1", error: "access_denied", error_description: "User did not authorize the request" };
    expect(await goThrough(harness.mcp.authorizeUrl(), { decision })).toEqual(answer);
    atlassian.refuseNext("authorization", "access_denied");
    expect(await goThrough(harness.mcp.authorizeUrl())).toEqual(answer);
  });

  it.each([
    ["failed to retrieve client", { client_id: "unknown" }],
    ["redirect_uri is not registered", { redirect_uri: `${CALLBACK}/other` }],
    ["unsupported_response_type", { response_type: "token" }],
  ])("shows a page, %s, for %j", async (text, query) => {
    expect(await pageOf(harness.mcp.authorizeUrl(query))).toMatchObject({
      status: 400,
      text: expect.stringContaining(text),
    });
  });

  it("ends on a page where an admin blocks apps that users install, or the redirect", async () => {
    atlassian.settings.userInstalledAppsBlocked = true;
    expect((await pageOf(harness.mcp.authorizeUrl())).text).toContain("Your site admin must authorize this app");
    atlassian.settings.userInstalledAppsBlocked = false;
    atlassian.settings.blockedRedirectUris = [CALLBACK];
    expect((await pageOf(harness.mcp.authorizeUrl())).text).toContain("Incorrect request parameters");
    expect(atlassian.liveTokens()).toEqual([]);
  });

  it("has every listed API error on demand", async () => {
    const { access_token: accessToken } = await harness.mcp.connect();
    for (const code of atlassian.errors.api!) {
      atlassian.refuseNext("api", code);
      const answer = await whoAmI(accessToken);
      expect(answer.status).toBe(Number(code));
    }
  });
});
