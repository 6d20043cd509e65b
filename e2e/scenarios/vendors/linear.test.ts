/**
 * Linear's authorization server for its MCP server, from connect to revoke, and every error,
 * against its simulator.
 */
import { startLinear } from "@oauth-broker/simulators/vendors";
import { expectError, expectPage, shared } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { browse } from "../../support/broker/platform.ts";
import { describeCancel, describeErrors, STANDARD_ERRORS } from "../../support/vendors/errors.ts";
import { startVendorHarness } from "../../support/vendors/harness.ts";

const harness = shared(async () => startVendorHarness({ vendor: await startLinear(), scope: "read write" }));
const strict = shared(async () =>
  startVendorHarness({ vendor: await startLinear({ replayWindowSeconds: 0 }), scope: "read" }),
);

describe("Linear", () => {
  it("connects", async () => {
    const { body } = await harness.connect();
    expect(body).toMatchObject({ expires_in: 86_400, refresh_token: expect.any(String), scope: "read write" });
  });

  it("asks to read when the caller names no scope", async () => {
    expect((await harness.connect({ form: { scope: undefined } })).body["scope"]).toBe("read");
  });

  it("rfc9207#2.4 is taken at its word that every callback names it", async () => {
    const { callback, jar } = await harness.platform.toCallback();
    expect(callback.searchParams.get("iss")).toBe(harness.vendor.url);
    callback.searchParams.delete("iss");
    expectPage(await browse(callback, jar), 400, "missing_issuer");
  });

  it("refreshes to a new pair, which the old refresh token gives again for a while", async () => {
    const grant = await harness.connect();
    const first = await harness.refresh(grant);
    expect(first.body).toMatchObject({ token_type: "Bearer", vendor: "linear" });
    expect(first.body["refresh_token"]).not.toBe(grant.refreshToken);
    // Another scope is another request: the broker does not answer it from the replay.
    const again = await harness.refresh(grant, { scope: "read" });
    expect(again.body["access_token"]).toBe(first.body["access_token"]);
    const once = await strict.connect();
    expect((await strict.refresh(once)).status).toBe(200);
    expectError(await strict.refresh(once, { scope: "read" }), 400, "invalid_grant");
  });

  it("is asked again with the same refresh token when an answer was lost", async () => {
    const grant = await harness.connect();
    harness.vendor.faultNext("/token", { kind: "lose" });
    const lost = await harness.refresh(grant);
    expectError(lost, 503, "temporarily_unavailable");
    expect(lost.body).not.toHaveProperty("retry");
    expect((await harness.refresh(grant, { scope: "read" })).status).toBe(200);
  });

  it("bar#RV-2 revokes at the token endpoint; a refresh token takes its grant along", async () => {
    const grant = await harness.connect();
    expect((await harness.revoke(grant.accessToken, grant)).body).toEqual({ revoked: "token" });
    expect(harness.vendor.isLive(grant.accessToken)).toBe(false);
    const other = await harness.connect();
    expect((await harness.revoke(other.refreshToken, other)).body).toEqual({ revoked: "token" });
    expect(harness.vendor.isLive(other.accessToken)).toBe(false);
    expectError(await harness.refresh(other), 400, "invalid_grant");
  });

  describeCancel(() => harness);
  describeErrors(() => harness, STANDARD_ERRORS);
});
