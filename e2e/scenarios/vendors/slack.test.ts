/** Slack's user tokens from connect to revoke, and every error it has, against its simulator. */
import { startSlack } from "@oauth-broker/simulators/vendors";
import { expectError, shared } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { describeCancel, describeErrors } from "../../support/vendors/errors.ts";
import { startVendorHarness } from "../../support/vendors/harness.ts";

const start = async (client: object) =>
  startVendorHarness({ vendor: await startSlack(), scope: "users:read search:read.public", client });
const plain = shared(() => start({}));
const rotating = shared(() => start({ tokenRotation: true }));

describe("Slack", () => {
  it("connects: the token is taken out of authed_user, and what stands beside it is handed on", async () => {
    const { body } = await plain.connect();
    expect(body).toMatchObject({
      scope: "users:read search:read.public",
      vendor_data: { ok: true, authed_user: { id: expect.any(String) }, team: { id: "T0SAMPLE1" } },
    });
    expect(JSON.stringify(body["vendor_data"])).not.toContain("xox");
    for (const name of ["expires_in", "refresh_token", "vendor_id_token"]) expect(body).not.toHaveProperty(name);
    const asked = plain.vendor.requests().find(({ path }) => path === "/oauth/v2_user/authorize");
    expect(asked?.query).toMatchObject({ scope: "users:read,search:read.public", code_challenge_method: "S256" });
  });

  it("requests scopes when the caller names none, because the vendor refuses an empty list", async () => {
    const { body } = await plain.connect({ form: { scope: undefined } });
    expect(body["scope"]).toBe("users:read search:read.public");
  });

  it("refreshes if the app rotates, at another endpoint than codes", async () => {
    const grant = await rotating.connect();
    expect(grant.body).toMatchObject({ expires_in: 43_200 });
    const answer = await rotating.refresh(grant);
    expect(answer.body).toMatchObject({ token_type: "Bearer", expires_in: 43_200, vendor: "slack" });
    expect(answer.body["refresh_token"]).not.toBe(grant.refreshToken);
    expect(JSON.stringify(answer.body["vendor_data"])).not.toContain("xox");
    expect(rotating.vendor.requests().at(-1)?.path).toBe("/api/oauth.v2.access");
  });

  it("answers a refresh token that is gone with invalid_grant", async () => {
    const grant = await rotating.connect();
    rotating.vendor.disconnect("user", rotating.client.clientId);
    expectError(await rotating.refresh(grant), 400, "invalid_grant");
  });

  it("bar#RV-2 revokes one token by itself, and says so when it is already gone", async () => {
    const grant = await plain.connect();
    expect((await plain.revoke(grant.accessToken, grant)).body).toEqual({ revoked: "token" });
    expect(plain.vendor.isLive(grant.accessToken)).toBe(false);
    expect((await plain.revoke(grant.accessToken, grant)).body).toEqual({ revoked: "already" });
    expect(plain.vendor.requests().at(-1)).toMatchObject({ path: "/api/auth.revoke", authorization: "Bearer" });
  });

  it("ends on a page while an administrator has to approve, and works afterwards", async () => {
    plain.vendor.requireApproval(true);
    await expect(plain.platform.toCallback()).rejects.toThrow(/has no form to go on with|answered 4/);
    plain.vendor.approve(plain.client.clientId);
    await plain.connect();
    plain.vendor.requireApproval(false);
  });

  describeCancel(() => plain);
  describeErrors(() => plain, {
    token: {
      invalid_client_id: [400, "vendor_credentials_rejected"],
      bad_client_secret: [400, "vendor_credentials_rejected"],
      invalid_code: [400, "invalid_grant"],
      code_already_used: [400, "invalid_grant"],
      code_expired: [400, "invalid_grant"],
      bad_redirect_uri: [502, "vendor_response_invalid"],
      invalid_grant_type: [502, "vendor_response_invalid"],
      invalid_refresh_token: [400, "invalid_grant"],
      token_expired: [400, "invalid_grant"],
      token_revoked: [400, "invalid_grant"],
      oauth_authorization_url_mismatch: [502, "vendor_response_invalid"],
      ratelimited: [503, "temporarily_unavailable"],
      internal_error: [503, "temporarily_unavailable"],
    },
    authorization: {
      access_denied: "access_denied",
      invalid_client_id: "page",
      no_scopes: "page",
      invalid_scope: "page",
      bad_redirect_uri: "page",
    },
    revocation: {
      not_authed: [502, "vendor_response_invalid"],
      invalid_auth: "already",
      token_revoked: "already",
      token_expired: "already",
      account_inactive: "already",
      ratelimited: [503, "temporarily_unavailable"],
    },
  });
});
