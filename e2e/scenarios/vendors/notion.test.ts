/**
 * Notion's authorization server for its MCP server, from connect to revoke, and every error,
 * against its simulator.
 */
import { startNotion } from "@oauth-broker/simulators/vendors";
import { expectError, shared } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { describeCancel, describeErrors, STANDARD_ERRORS } from "../../support/vendors/errors.ts";
import { startVendorHarness } from "../../support/vendors/harness.ts";

const harness = shared(async () => startVendorHarness({ vendor: await startNotion(), scope: "default" }));

describe("Notion", () => {
  it("connects, with S256 although it would take plain too", async () => {
    const { body } = await harness.connect();
    expect(body).toMatchObject({ expires_in: 3600, refresh_token: expect.any(String), scope: "default" });
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
  describeErrors(() => harness, STANDARD_ERRORS);
});
