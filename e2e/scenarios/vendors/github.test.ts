/** GitHub from connect to revoke, and every error it has, against its simulator. */
import { driveConsent } from "@oauth-broker/simulators";
import { startGitHub } from "@oauth-broker/simulators/vendors";
import { expectError, shared } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { INITIATE_LOGIN_URI } from "../../support/broker/configuration.ts";
import { describeCancel, describeErrors } from "../../support/vendors/errors.ts";
import { startVendorHarness } from "../../support/vendors/harness.ts";

const start = async (client: object) =>
  startVendorHarness({ vendor: await startGitHub(), scope: "read:user repo", client });
const classic = shared(() => start({}));
const expiring = shared(() => start({ expiringTokens: true }));

describe("GitHub", () => {
  it("connects: scopes are a list, and tokens that never expire have no expires_in", async () => {
    const { body } = await classic.connect();
    expect(String(body["scope"]).split(" ").toSorted()).toEqual(["read:user", "repo"]);
    for (const name of ["expires_in", "refresh_token", "vendor_id_token"]) expect(body).not.toHaveProperty(name);
    const asked = classic.vendor.requests().findLast(({ path }) => path === "/login/oauth/access_token");
    expect(asked).toMatchObject({ accept: "application/json", body: { code_verifier: "(secret)" } });
  });

  it("refreshes when the app has expiring tokens: the old pair is dead, and there is a new one", async () => {
    const grant = await expiring.connect();
    expect(grant.body).toMatchObject({ expires_in: 28_800, vendor_data: {} });
    const answer = await expiring.refresh(grant);
    expect(answer.body).toMatchObject({ token_type: "Bearer", expires_in: 28_800, vendor: "github" });
    expect(answer.body["refresh_token"]).not.toBe(grant.refreshToken);
    expect(expiring.vendor.isLive(grant.accessToken)).toBe(false);
    expect(expiring.vendor.isLive(String(answer.body["access_token"]))).toBe(true);
  });

  it("answers a refresh token that is gone with invalid_grant", async () => {
    const grant = await expiring.connect();
    expiring.vendor.disconnect("user", expiring.client.clientId);
    const answer = await expiring.refresh(grant);
    expectError(answer, 400, "invalid_grant");
    expect(answer.body["vendor_error"]).toBe("bad_refresh_token");
  });

  it("shows a page for an install that began at the vendor, and does not use its code", async () => {
    const atInstall = await driveConsent(classic.vendor.installUrl(classic.client.clientId), {
      stopAt: (url) => url.href.startsWith(`${classic.baseUrl}/v1/callback`),
    });
    expect([...atInstall.searchParams.keys()]).toEqual(["code", "installation_id", "setup_action"]);
    const asked = classic.vendor.requests().length;
    const answer = await fetch(atInstall, { redirect: "manual" });
    const html = await answer.text();
    expect([answer.status, answer.headers.get("location")]).toEqual([400, null]);
    expect(answer.headers.has("set-cookie")).toBe(false);
    expect(html).toContain("state_missing");
    expect(html).toContain(`href="${INITIATE_LOGIN_URI}"`);
    for (const value of atInstall.searchParams.values()) expect(html).not.toContain(`>${value}<`);
    expect(classic.vendor.requests()).toHaveLength(asked);
  });

  it("bar#RV-2 revokes one token, and says so when it is already gone", async () => {
    const grant = await classic.connect();
    expect((await classic.revoke(grant.accessToken, grant)).body).toEqual({ revoked: "token" });
    expect(classic.vendor.isLive(grant.accessToken)).toBe(false);
    expect((await classic.revoke(grant.accessToken, grant)).body).toEqual({ revoked: "already" });
    expect(classic.vendor.requests().at(-1)).toMatchObject({
      method: "DELETE",
      path: `/applications/${classic.client.clientId}/token`,
      authorization: "Basic",
    });
  });

  it("bar#RV-2 says which token to bring when it is given the other kind", async () => {
    const grant = await expiring.connect();
    const answer = await expiring.revoke(grant.refreshToken, grant, { token_type_hint: "refresh_token" });
    expectError(answer, 400, "unsupported_token_type");
    expect(answer.body["help"]).toContain("access token");
    expect(expiring.vendor.isLive(grant.accessToken)).toBe(true);
  });

  describeCancel(() => classic);
  describeErrors(() => classic, {
    token: {
      incorrect_client_credentials: [400, "vendor_credentials_rejected"],
      redirect_uri_mismatch: [502, "vendor_response_invalid"],
      bad_verification_code: [400, "invalid_grant"],
      bad_refresh_token: [400, "invalid_grant"],
      unverified_user_email: [400, "invalid_grant"],
      unsupported_grant_type: [502, "vendor_response_invalid"],
    },
    authorization: {
      access_denied: "access_denied",
      application_suspended: "vendor_credentials_rejected",
      redirect_uri_mismatch: "server_error",
    },
    revocation: { "401": [400, "vendor_credentials_rejected"], "404": "already", "422": "already" },
  });
});
