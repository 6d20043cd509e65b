/**
 * Notion's authorization server for its MCP server, from connect to revoke, and every error,
 * against its simulator.
 */
import { type NotionSimulator, startNotion } from "@oauth-broker/simulators/vendors";
import { expectError } from "@oauth-broker/oauth-core/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeCancel, describeErrors } from "../support/vendor-errors.ts";
import { startVendorHarness, type VendorHarness } from "../support/vendor-harness.ts";

let harness: VendorHarness<NotionSimulator>;

beforeAll(async () => {
  harness = await startVendorHarness({ vendor: await startNotion(), scope: "default" });
});
afterAll(() => harness.close());

describe("Notion", () => {
  it("connects, with S256 although it would take plain too", async () => {
    const { body } = await harness.connect();
    expect(body).toMatchObject({
      token_type: "Bearer",
      expires_in: 3600,
      refresh_token: expect.any(String),
      scope: "default",
      vendor: "notion",
      vendor_data: {},
    });
    const asked = harness.vendor.requests().find(({ path }) => path === "/authorize");
    expect(asked?.query).toMatchObject({ code_challenge_method: "S256" });
  });

  it("takes the resource that its metadata names, the bare origin", async () => {
    const { body } = await harness.connect({ form: { resource: harness.vendor.url } });
    expect(body).toHaveProperty("access_token");
    expect(harness.vendor.requests().findLast(({ path }) => path === "/token")?.body).toMatchObject({
      resource: harness.vendor.url,
    });
  });

  it("refreshes: the old refresh token is dead, and a lost answer is the end of it", async () => {
    const grant = await harness.connect();
    const answer = await harness.refresh(grant);
    expect(answer.body).toMatchObject({ token_type: "Bearer", expires_in: 3600, vendor: "notion" });
    expect(answer.body["refresh_token"]).not.toBe(grant.refreshToken);
    expectError(await harness.refresh(grant, { scope: "default" }), 400, "invalid_grant");

    const other = await harness.connect();
    harness.vendor.faultNext("/token", { kind: "lose" });
    const lost = await harness.refresh(other);
    expectError(lost, 503, "temporarily_unavailable");
    expect(lost.body["retry"]).toBe("restart");
  });

  it("bar#RV-2 revokes at the token endpoint; a refresh token takes its grant along", async () => {
    const grant = await harness.connect();
    expect((await harness.revoke(grant.refreshToken, grant)).body).toEqual({ revoked: "token" });
    expect(harness.vendor.isLive(grant.accessToken)).toBe(false);
  });

  describeCancel(() => harness);
  describeErrors(() => harness, {
    token: {
      invalid_request: [502, "vendor_response_invalid"],
      invalid_client: [400, "vendor_credentials_rejected"],
      invalid_grant: [400, "invalid_grant"],
      unauthorized_client: [400, "vendor_credentials_rejected"],
      unsupported_grant_type: [502, "vendor_response_invalid"],
      invalid_scope: [400, "invalid_scope"],
      invalid_target: [502, "vendor_response_invalid"],
      too_many_requests: [503, "temporarily_unavailable"],
      server_error: [503, "temporarily_unavailable"],
      temporarily_unavailable: [503, "temporarily_unavailable"],
    },
    authorization: {
      access_denied: "access_denied",
      invalid_request: "server_error",
      invalid_scope: "invalid_scope",
      invalid_target: "server_error",
      unauthorized_client: "vendor_credentials_rejected",
      unsupported_response_type: "server_error",
      server_error: "server_error",
      temporarily_unavailable: "temporarily_unavailable",
    },
    revocation: {
      invalid_client: [400, "vendor_credentials_rejected"],
      unsupported_token_type: [400, "unsupported_token_type"],
      temporarily_unavailable: [503, "temporarily_unavailable"],
    },
  });
});
