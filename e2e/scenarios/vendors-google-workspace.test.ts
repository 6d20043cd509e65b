/** Google Workspace from approval to revoke, and every error it has, against its simulator. */
import { type GoogleSimulator, startGoogleWorkspace } from "@oauth-broker/simulators/vendors";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectError } from "../support/expectations.ts";
import { describeCancel, describeErrors } from "../support/vendor-errors.ts";
import { startVendorStage, type VendorStage } from "../support/vendor-stage.ts";

const GMAIL = "https://www.googleapis.com/auth/gmail.readonly";
const DRIVE = "https://www.googleapis.com/auth/drive.readonly";

let stage: VendorStage<GoogleSimulator>;

beforeAll(async () => {
  stage = await startVendorStage({ vendor: await startGoogleWorkspace(), scope: `openid ${GMAIL} ${DRIVE}` });
});
afterAll(() => stage.close());

describe("Google Workspace", () => {
  it("connects with an ID token that is checked, and a refresh token because it asks for consent", async () => {
    const { body } = await stage.connect();
    expect(body).toMatchObject({
      token_type: "Bearer",
      expires_in: 3599,
      refresh_token: expect.any(String),
      vendor_id_token: expect.any(String),
      vendor: "google-workspace",
      vendor_data: {},
    });
    const asked = stage.vendor.requests().find(({ path }) => path === "/o/oauth2/v2/auth");
    expect(asked?.query).toMatchObject({ access_type: "offline", prompt: "consent", include_granted_scopes: "true" });
  });

  it("says which scopes the person left", async () => {
    stage.vendor.settings.unticked = [DRIVE];
    stage.vendor.disconnect("user", stage.client.clientId);
    const { body } = await stage.connect();
    stage.vendor.settings.unticked = [];
    expect(String(body["scope"]).split(" ").toSorted()).toEqual([GMAIL, "openid"].toSorted());
  });

  it("oidc-core#3.1.3.7 takes an issuer without scheme for the same one, also at a refresh", async () => {
    const first = await stage.connect();
    stage.vendor.settings.idTokenIssuer = "without scheme";
    const second = await stage.connect();
    const refreshed = await stage.refresh(first);
    stage.vendor.settings.idTokenIssuer = "with scheme";
    expect(second.body).toHaveProperty("vendor_id_token");
    expect(refreshed.status, refreshed.text).toBe(200);
  });

  it("refreshes and keeps the refresh token", async () => {
    const grant = await stage.connect();
    const answer = await stage.refresh(grant);
    expect(answer.body).toMatchObject({ refresh_token: grant.refreshToken, expires_in: 3599 });
    expect(stage.vendor.isLive(String(answer.body["access_token"]))).toBe(true);
    expect((await stage.refresh(grant)).status).toBe(200);
  });

  it("answers a refresh token that the organization's session policy ended with invalid_grant, and says why", async () => {
    const grant = await stage.connect();
    stage.vendor.settings.reauthenticationRequired = true;
    const answer = await stage.refresh(grant);
    stage.vendor.settings.reauthenticationRequired = false;
    expectError(answer, 400, "invalid_grant");
    expect(answer.body["vendor_error"]).toBe("invalid_rapt");
    stage.vendor.changePassword("user");
    expectError(await stage.refresh(grant, { scope: GMAIL }), 400, "invalid_grant");
  });

  it("bar#RV-2 revokes the whole grant by either token, and says so when it is already gone", async () => {
    const [first, second] = [await stage.connect(), await stage.connect()];
    expect((await stage.revoke(first.refreshToken, first)).body).toEqual({ revoked: "grant" });
    expect(stage.vendor.liveTokens("user")).toEqual([]);
    expect((await stage.revoke(second.accessToken, second)).body).toEqual({ revoked: "already" });
    const third = await stage.connect();
    expect((await stage.revoke(third.accessToken, third)).body).toEqual({ revoked: "grant" });
    expect(stage.vendor.requests().at(-1)).toMatchObject({ path: "/revoke", query: {}, body: { token: "(secret)" } });
  });

  it("refuses to start before the vendor's approval", async () => {
    const unapproved = await startVendorStage({
      vendor: await startGoogleWorkspace(),
      scope: "openid",
      approvedVendors: [],
    });
    const answer = await unapproved.platform.par();
    expectError(answer, 400, "unauthorized_client");
    expect(answer.body["error_description"]).toContain("approve");
    expect(unapproved.vendor.requests()).toEqual([]);
    await unapproved.close();
  });

  describeCancel(() => stage);
  describeErrors(() => stage, {
    token: {
      invalid_grant: [400, "invalid_grant"],
      invalid_rapt: [400, "invalid_grant"],
      invalid_client: [400, "vendor_credentials_rejected"],
      redirect_uri_mismatch: [502, "vendor_response_invalid"],
      unauthorized_client: [400, "vendor_credentials_rejected"],
      admin_policy_enforced: [400, "invalid_grant"],
    },
    authorization: {
      access_denied: "access_denied",
      admin_policy_enforced: "server_error",
      org_internal: "server_error",
      disallowed_useragent: "page",
    },
    revocation: { invalid_token: "already" },
  });
});
