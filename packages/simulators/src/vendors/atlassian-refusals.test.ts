import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AtlassianSimulator } from "./atlassian.ts";
import { REST_APP, startAtlassianHarness, type AtlassianHarness } from "./testing/atlassian-harness.ts";
import { bearer, CALLBACK, getJson, goThrough, pageOf, postForm, postJson } from "./testing/http.ts";

let harness: AtlassianHarness;
let atlassian: AtlassianSimulator;
beforeEach(async () => {
  harness = await startAtlassianHarness();
  ({ atlassian } = harness);
});
afterEach(() => atlassian.close());

describe("a 3LO app of the console", () => {
  it("exchanges in JSON and opens one site's API", async () => {
    const tokens = await harness.rest.connect();
    expect(atlassian.requests().at(-1)).toMatchObject({ contentType: "application/json", status: 200 });
    const [site, other] = atlassian.settings.sites;
    const resources = `${atlassian.url}/oauth/token/accessible-resources`;
    const list = await getJson(resources, bearer(tokens["access_token"]));
    expect(list.body).toEqual([{ ...site, scopes: ["read:me", "read:jira-work"], avatarUrl: expect.any(String) }]);
    const api = (id: string) =>
      getJson(`${atlassian.url}/ex/jira/${id}/rest/api/3/myself`, bearer(tokens["access_token"]));
    expect([(await api(site!.id)).status, (await api(other!.id)).status, (await api("none")).status]).toEqual([
      200, 403, 404,
    ]);
    expect((await getJson(atlassian.restEndpoints["userinfo_endpoint"]!, bearer(tokens["access_token"]))).body).toEqual(
      {
        account_id: "user",
        email: "user@sandbox.example",
        name: "Sample user",
        account_status: "active",
      },
    );
  });

  it("has tokens the MCP server refuses, and the other way round, except at the account endpoint", async () => {
    const [rest, mcp] = [await harness.rest.connect(), await harness.mcp.connect()];
    expect((await postJson(atlassian.mcpServer, {}, bearer(rest["access_token"]))).status).toBe(401);
    const sites = `${atlassian.url}/oauth/token/accessible-resources`;
    expect((await getJson(sites, bearer(mcp["access_token"]))).status).toBe(401);
    const me = atlassian.restEndpoints["userinfo_endpoint"]!;
    expect((await getJson(me, bearer(mcp["access_token"]))).status).toBe(200);
    const { access_token: without } = await harness.rest.connect({ scope: "read:jira-work" });
    expect((await getJson(me, bearer(without))).status).toBe(403);
  });

  it.each([
    ["audience", { audience: undefined }],
    ["audience", { audience: "other.example" }],
    ["prompt", { prompt: undefined }],
    ["code_challenge_method", { code_challenge_method: "plain" }],
    ["invalid_scope", { scope: undefined }],
  ])("needs a right %s: %j ends on a page", async (text, query) => {
    expect(await pageOf(harness.rest.authorizeUrl(query))).toMatchObject({
      status: 400,
      text: expect.stringContaining(text),
    });
  });

  it("does without PKCE, and takes a form as well", async () => {
    const without = { code_challenge: undefined, code_challenge_method: undefined };
    const { code = "" } = await goThrough(harness.rest.authorizeUrl(without));
    const form = { grant_type: "authorization_code", code, redirect_uri: CALLBACK, ...REST_APP };
    expect((await postForm(atlassian.restEndpoints["token_endpoint"]!, form)).status).toBe(200);
  });

  it("refuses a resource, at the token endpoint only", async () => {
    const { code } = await goThrough(harness.rest.authorizeUrl({ resource: "https://tool.example/mcp" }));
    const body = { error: "invalid_target", error_description: "Incorrect resource parameters" };
    expect(await harness.rest.redeem(code)).toMatchObject({ status: 400, body });
    const { refresh_token: refreshToken } = await harness.rest.connect();
    expect(await harness.rest.refresh(refreshToken, { resource: "x" })).toMatchObject({ status: 400, body });
    expect((await harness.rest.refresh(refreshToken)).status).toBe(200);
    expect(await harness.rest.refresh(refreshToken)).toMatchObject({ status: 403, body: { error: "invalid_grant" } });
  });
});

describe("refusals", () => {
  it.each(["cancel", "cancel-sign-in"] as const)("answers access_denied on %s", async (decision) => {
    const answer = { state: "s1", error: "access_denied", error_description: "User did not authorize the request" };
    expect(await goThrough(harness.mcp.authorizeUrl(), { decision })).toEqual(answer);
    expect(await goThrough(harness.rest.authorizeUrl(), { decision })).toEqual(answer);
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
    const { access_token: accessToken } = await harness.rest.connect();
    for (const code of atlassian.errors.api!) {
      atlassian.refuseNext("api", code);
      const answer = await getJson(atlassian.restEndpoints["userinfo_endpoint"]!, bearer(accessToken));
      expect(answer.status).toBe(Number(code));
    }
  });
});
