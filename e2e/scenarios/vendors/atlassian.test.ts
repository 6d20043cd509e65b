/**
 * Atlassian's authorization server for its MCP server, from connect to disconnect, against its
 * simulator.
 */
import { type AtlassianSimulator, startAtlassian } from "@oauth-broker/simulators/vendors";
import { expectError, shared } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { describeCancel, describeErrors } from "../../support/vendors/errors.ts";
import { startVendorHarness, type VendorHarness } from "../../support/vendors/harness.ts";

const start = (vendor: AtlassianSimulator) => {
  const form = { resource: vendor.mcpServer };
  return startVendorHarness({ vendor, scope: "read:me", form });
};
const harness = shared(async () => start(await startAtlassian()));

describe("Atlassian", () => {
  it("connects: with the resource on both legs, and the scope for a refresh token", async () => {
    const { body } = await harness.connect();
    expect(body).toMatchObject({
      expires_in: 3600,
      refresh_token: expect.any(String),
      scope: "read:me offline_access",
    });
    const [authorization, token] = ["/authorize", "/oauth/token"].map((at) =>
      harness.vendor.requests().find(({ path }) => path === at),
    );
    const resource = harness.vendor.mcpServer;
    expect(authorization?.query).toMatchObject({ resource, audience: "api.atlassian.com", prompt: "consent" });
    expect(token?.body).toMatchObject({ resource });
  });

  it("explains the resource it would name by itself", async () => {
    const { body } = await harness.platform.post("/v1/explain", { vendor: "atlassian" });
    expect(body["authorization_parameters"]).toMatchObject({
      resource: { value: "https://mcp.atlassian.com/v1/mcp/authv2", source: "vendor" },
      scope: { value: "read:me offline_access", source: "vendor" },
    });
  });

  it("refreshes: the old refresh token is dead, and there is a new one", async () => {
    const grant = await harness.connect();
    const answer = await harness.refresh(grant);
    expect(answer.body).toMatchObject({ token_type: "Bearer", expires_in: 3600, vendor: "atlassian" });
    expect(answer.body["refresh_token"]).not.toBe(grant.refreshToken);
    expect(harness.vendor.isLive(grant.refreshToken ?? "")).toBe(false);
  });

  it.each(["invalid_grant", "unauthorized_client"] as const)(
    "answers a dead refresh token, reported as %s with 403, with invalid_grant",
    async (code) => {
      harness.vendor.settings.deadRefreshAnswer = code;
      const grant = await harness.connect();
      harness.vendor.disconnect("user", harness.client.clientId);
      const answer = await harness.refresh(grant);
      expectError(answer, 400, "invalid_grant");
      expect(answer.body["vendor_error"]).toBe(code);
    },
  );

  it("bar#RV-2 revokes where the metadata says, and the token is dead", async () => {
    const grant = await harness.connect();
    const answer = await harness.revoke(grant.refreshToken, grant);
    expect(answer.body, answer.text).toEqual({ revoked: "token" });
    expect(harness.vendor.isLive(grant.refreshToken ?? "")).toBe(false);
    const asked = harness.vendor.requests().findLast(({ path }) => path === "/oauth/revoke");
    expect(asked?.body).toMatchObject({ client_id: harness.client.clientId });
    expectError(await harness.refresh(grant), 400, "invalid_grant");
  });

  it("bar#RV-2 bar#BY-4 says what the user can do if only the token endpoint was moved", async () => {
    const elsewhere = await start(await startAtlassian({ publishesRevocation: false }));
    const grant = await elsewhere.connect();
    const answer = await elsewhere.revoke(grant.refreshToken, grant);
    await elsewhere.close();
    expectError(answer, 400, "unsupported_token_type");
    expect(answer.body["help"]).toContain("Connected apps");
  });

  it.each<[string, (harness: VendorHarness<AtlassianSimulator>) => void]>([
    ["the site's administrator blocks apps", ({ vendor }) => void (vendor.settings.userInstalledAppsBlocked = true)],
    [
      "the organization allows no redirect to us",
      ({ vendor, client }) => void (vendor.settings.blockedRedirectUris = client.redirectUris),
    ],
  ])("ends on a page where %s", async (_title, block) => {
    block(harness);
    await expect(harness.platform.toCallback()).rejects.toThrow(/has no form to go on with|answered 4/);
    Object.assign(harness.vendor.settings, { userInstalledAppsBlocked: false, blockedRedirectUris: [] });
  });

  describeCancel(() => harness);
  describeErrors(() => harness, {
    token: {
      invalid_grant: [400, "invalid_grant"],
      unauthorized_client: [400, "invalid_grant"],
      access_denied: [400, "vendor_credentials_rejected"],
      invalid_target: [502, "vendor_response_invalid"],
    },
    authorization: { access_denied: "access_denied" },
  });
});
