/** Google Workspace from approval to revoke, and every error it has, against its simulator. */
import { startGoogleWorkspace } from "@oauth-broker/simulators/vendors";
import { expectError, shared } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { describeCancel, describeErrors } from "../../support/vendors/errors.ts";
import { startVendorHarness } from "../../support/vendors/harness.ts";

const GMAIL = "https://www.googleapis.com/auth/gmail.readonly";
const DRIVE = "https://www.googleapis.com/auth/drive.readonly";

const scope = `openid ${GMAIL} ${DRIVE}`;
const harness = shared(async () => startVendorHarness({ vendor: await startGoogleWorkspace(), scope }));

describe("Google Workspace", () => {
  it("connects with an ID token that is checked, and a refresh token because it asks for consent", async () => {
    const { body } = await harness.connect();
    expect(body).toMatchObject({
      expires_in: 3599,
      refresh_token: expect.any(String),
      vendor_id_token: expect.any(String),
    });
    const asked = harness.vendor.requests().find(({ path }) => path === "/o/oauth2/v2/auth");
    expect(asked?.query).toMatchObject({ access_type: "offline", prompt: "consent", include_granted_scopes: "true" });
  });

  it("reports the scopes that the user left", async () => {
    harness.vendor.settings.unticked = [DRIVE];
    harness.vendor.disconnect("user", harness.client.clientId);
    const { body } = await harness.connect();
    harness.vendor.settings.unticked = [];
    expect(String(body["scope"]).split(" ").toSorted()).toEqual([GMAIL, "openid"].toSorted());
  });

  it("oidc-core#3.1.3.7 takes an issuer without scheme for the same one, also at a refresh", async () => {
    const first = await harness.connect();
    harness.vendor.settings.idTokenIssuer = "without scheme";
    const second = await harness.connect();
    const refreshed = await harness.refresh(first);
    harness.vendor.settings.idTokenIssuer = "with scheme";
    expect(second.body).toHaveProperty("vendor_id_token");
    expect(refreshed.status, refreshed.text).toBe(200);
  });

  it("refreshes and keeps the refresh token", async () => {
    const grant = await harness.connect();
    const answer = await harness.refresh(grant);
    expect(answer.body).toMatchObject({ refresh_token: grant.refreshToken, expires_in: 3599 });
    expect(harness.vendor.isLive(String(answer.body["access_token"]))).toBe(true);
    expect((await harness.refresh(grant)).status).toBe(200);
  });

  it("answers invalid_grant, with the reason, after the session policy ended a token", async () => {
    const grant = await harness.connect();
    harness.vendor.settings.reauthenticationRequired = true;
    const answer = await harness.refresh(grant);
    harness.vendor.settings.reauthenticationRequired = false;
    expectError(answer, 400, "invalid_grant");
    expect(answer.body["vendor_error"]).toBe("invalid_rapt");
    harness.vendor.changePassword("user");
    expectError(await harness.refresh(grant, { scope: GMAIL }), 400, "invalid_grant");
  });

  it("bar#RV-2 revokes the whole grant by either token, and says so when it is already gone", async () => {
    const [first, second] = [await harness.connect(), await harness.connect()];
    expect((await harness.revoke(first.refreshToken, first)).body).toEqual({ revoked: "grant" });
    expect(harness.vendor.liveTokens("user")).toEqual([]);
    expect((await harness.revoke(second.accessToken, second)).body).toEqual({ revoked: "already" });
    const third = await harness.connect();
    expect((await harness.revoke(third.accessToken, third)).body).toEqual({ revoked: "grant" });
    expect(harness.vendor.requests().at(-1)).toMatchObject({
      path: "/revoke",
      query: {},
      body: { token: "(secret)" },
    });
  });

  it("refuses to start before the vendor's approval", async () => {
    const unapproved = await startVendorHarness({
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

  describeCancel(() => harness);
  describeErrors(() => harness, {
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
