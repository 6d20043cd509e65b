/** Atlassian's authorization server for its MCP server, from connect to disconnect, against its simulator. */
import { type AtlassianSimulator, startAtlassian } from "@oauth-broker/simulators/vendors";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectError } from "../support/expectations.ts";
import { describeCancel, describeErrors } from "../support/vendor-errors.ts";
import { startVendorStage, type VendorStage } from "../support/vendor-stage.ts";

let stage: VendorStage<AtlassianSimulator>;

beforeAll(async () => {
  const vendor = await startAtlassian();
  stage = await startVendorStage({
    vendor,
    scope: "read:me",
    client: { kind: "mcp" },
    form: { resource: vendor.mcpServer },
  });
});
afterAll(() => stage.close());

describe("Atlassian", () => {
  it("connects: it is asked for the resource on both legs, and for what makes a refresh token come", async () => {
    const { body } = await stage.connect();
    expect(body).toMatchObject({
      token_type: "Bearer",
      expires_in: 3600,
      refresh_token: expect.any(String),
      scope: "read:me offline_access",
      vendor: "atlassian",
      vendor_data: {},
    });
    const [authorization, token] = ["/authorize", "/oauth/token"].map((at) =>
      stage.vendor.requests().find(({ path }) => path === at),
    );
    const resource = stage.vendor.mcpServer;
    expect(authorization?.query).toMatchObject({ resource, audience: "api.atlassian.com", prompt: "consent" });
    expect(token?.body).toMatchObject({ resource });
  });

  it("explains the resource it would name by itself", async () => {
    const { body } = await stage.platform.post("/v1/explain", { vendor: "atlassian" });
    expect(body["authorization_parameters"]).toMatchObject({
      resource: { value: "https://mcp.atlassian.com/v1/mcp/authv2", source: "vendor" },
      scope: { value: "read:me offline_access", source: "vendor" },
    });
  });

  it("refreshes: the old refresh token is dead, and there is a new one", async () => {
    const grant = await stage.connect();
    const answer = await stage.refresh(grant);
    expect(answer.body).toMatchObject({ token_type: "Bearer", expires_in: 3600, vendor: "atlassian" });
    expect(answer.body["refresh_token"]).not.toBe(grant.refreshToken);
    expect(stage.vendor.isLive(grant.refreshToken ?? "")).toBe(false);
  });

  it.each(["invalid_grant", "unauthorized_client"] as const)(
    "answers a dead refresh token, reported as %s with 403, with invalid_grant",
    async (code) => {
      stage.vendor.settings.deadRefreshAnswer = code;
      const grant = await stage.connect();
      stage.vendor.disconnect("user", stage.client.clientId);
      const answer = await stage.refresh(grant);
      expectError(answer, 400, "invalid_grant");
      expect(answer.body["vendor_error"]).toBe(code);
    },
  );

  it("bar#RV-2 revokes where the metadata says, and the token is dead", async () => {
    const grant = await stage.connect();
    const answer = await stage.revoke(grant.refreshToken, grant);
    expect(answer.body, answer.text).toEqual({ revoked: "token" });
    expect(stage.vendor.isLive(grant.refreshToken ?? "")).toBe(false);
    const asked = stage.vendor.requests().findLast(({ path }) => path === "/oauth/revoke");
    expect(asked?.body).toMatchObject({ client_id: stage.client.clientId });
    expectError(await stage.refresh(grant), 400, "invalid_grant");
  });

  it("bar#RV-2 bar#BY-4 says what the person can do where it was moved and no revocation with it", async () => {
    const vendor = await startAtlassian({ publishesRevocation: false });
    const elsewhere = await startVendorStage({
      vendor,
      scope: "read:me",
      client: { kind: "mcp" },
      form: { resource: vendor.mcpServer },
    });
    const grant = await elsewhere.connect();
    const answer = await elsewhere.revoke(grant.refreshToken, grant);
    await elsewhere.close();
    expectError(answer, 400, "unsupported_token_type");
    expect(answer.body["help"]).toContain("Connected apps");
  });

  it.each<[string, (stage: VendorStage<AtlassianSimulator>) => void]>([
    ["the site's administrator blocks apps", ({ vendor }) => void (vendor.settings.userInstalledAppsBlocked = true)],
    [
      "the organization allows no redirect to us",
      ({ vendor, client }) => void (vendor.settings.blockedRedirectUris = client.redirectUris),
    ],
  ])("ends on a page where %s", async (_title, block) => {
    block(stage);
    await expect(stage.platform.toCallback({ form: stage.form })).rejects.toThrow(
      /has no form to go on with|answered 4/,
    );
    Object.assign(stage.vendor.settings, { userInstalledAppsBlocked: false, blockedRedirectUris: [] });
  });

  describeCancel(() => stage);
  describeErrors(() => stage, {
    token: {
      invalid_grant: [400, "invalid_grant"],
      unauthorized_client: [400, "invalid_grant"],
      access_denied: [400, "vendor_credentials_rejected"],
      invalid_target: [502, "vendor_response_invalid"],
    },
    authorization: { access_denied: "access_denied" },
  });
});
