import { afterEach, describe, expect, it } from "vitest";
import { type RefreshVendor, startRefreshVendor } from "./server.ts";

let vendor: RefreshVendor;
afterEach(() => vendor.close());

function refresh(refreshToken: string, form: Record<string, string> = {}): Promise<Response> {
  return fetch(vendor.tokenEndpoint, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "refresh_token",
      refresh_token: refreshToken,
      client_id: vendor.clientId,
      client_secret: vendor.clientSecret,
      ...form,
    }),
  });
}

describe("a vendor by how it refreshes", () => {
  it("answers a refresh as RFC 6749 has it", async () => {
    vendor = await startRefreshVendor({ model: "strict", accessTokenSeconds: 60 });
    const first = vendor.authorize("u1");
    const answer = await refresh(first.refreshToken);
    expect(answer.status).toBe(200);
    const tokens = (await answer.json()) as Record<string, unknown>;
    expect(tokens).toEqual({
      access_token: expect.stringMatching(/^at-/),
      token_type: "Bearer",
      expires_in: 60,
      refresh_token: expect.stringMatching(/^rt-/),
    });
    expect(vendor.live("u1").refreshTokens).toEqual([tokens["refresh_token"]]);
    const userinfo = { headers: { Authorization: `Bearer ${String(tokens["access_token"])}` } };
    expect(await (await fetch(vendor.userinfoEndpoint, userinfo)).json()).toEqual({ sub: "u1" });
    const second = await refresh(first.refreshToken);
    expect([second.status, await second.json()]).toEqual([400, { error: "invalid_grant" }]);
    expect((await fetch(vendor.userinfoEndpoint, userinfo)).status).toBe(401);
    expect([vendor.calls(), vendor.counts("u1").presented]).toEqual([2, 2]);
  });

  it("checks the client, in the header or in the body", async () => {
    vendor = await startRefreshVendor({ model: "none" });
    const { refreshToken } = vendor.authorize("u1");
    expect((await refresh(refreshToken, { client_secret: "another" })).status).toBe(401);
    const secret = encodeURIComponent(vendor.clientSecret);
    const basic = await fetch(vendor.tokenEndpoint, {
      method: "POST",
      headers: { Authorization: `Basic ${Buffer.from(`${vendor.clientId}:${secret}`).toString("base64")}` },
      body: new URLSearchParams({ grant_type: "refresh_token", refresh_token: refreshToken }),
    });
    expect(basic.status).toBe(200);
  });

  it("refuses what is no refresh request", async () => {
    vendor = await startRefreshVendor({ model: "none" });
    const { refreshToken } = vendor.authorize("u1");
    expect((await refresh(refreshToken, { grant_type: "password" })).status).toBe(400);
    expect((await refresh("")).status).toBe(400);
    expect((await fetch(vendor.tokenEndpoint, { method: "POST", body: "{}" })).status).toBe(400);
    expect((await fetch(`${vendor.url}/else`)).status).toBe(404);
  });

  it.each(["unavailable", "invalid_grant"] as const)("fault %s: nothing is done", async (answer) => {
    vendor = await startRefreshVendor({ model: "strict" });
    const { refreshToken } = vendor.authorize("u1");
    vendor.fault({ answer, times: 1 });
    expect((await refresh(refreshToken)).status).toBe(answer === "unavailable" ? 503 : 400);
    expect(vendor.live("u1").refreshTokens).toEqual([refreshToken]);
    expect((await refresh(refreshToken)).status).toBe(200);
  });

  it.each(["drop", "half"] as const)("fault %s: the work is done, the answer does not arrive", async (answer) => {
    vendor = await startRefreshVendor({ model: "strict" });
    const [one, other] = [vendor.authorize("u1"), vendor.authorize("u2")];
    vendor.fault({ answer, user: "u1" });
    await expect(refresh(one.refreshToken).then((response) => response.json())).rejects.toThrow(
      /fetch failed|terminated/,
    );
    expect(vendor.live("u1").refreshTokens).not.toContain(one.refreshToken);
    expect((await refresh(other.refreshToken)).status).toBe(200);
    vendor.fault(undefined);
    expect((await refresh(one.refreshToken)).status).toBe(400);
  });

  it("holds a request before or after the work", async () => {
    vendor = await startRefreshVendor({ model: "strict" });
    const { refreshToken } = vendor.authorize("u1");
    const [before, after] = [vendor.hold("u1", "before"), vendor.hold("u1", "after")];
    const answer = refresh(refreshToken);
    await before.reached;
    expect(vendor.live("u1").refreshTokens).toEqual([refreshToken]);
    before.release();
    await after.reached;
    expect(vendor.live("u1").refreshTokens).not.toContain(refreshToken);
    after.release();
    expect((await answer).status).toBe(200);
  });

  it("answers late on request, and counts concurrent requests", async () => {
    vendor = await startRefreshVendor({ model: "none" });
    const { refreshToken } = vendor.authorize("u1");
    vendor.fault({ delayBeforeMs: 30, delayAfterMs: 30 });
    const started = performance.now();
    await Promise.all([refresh(refreshToken), refresh(refreshToken)]);
    expect(performance.now() - started).toBeGreaterThanOrEqual(58);
    expect(vendor.inFlightPeak()).toBe(2);
  });

  it("revokes", async () => {
    vendor = await startRefreshVendor({ model: "none" });
    const { refreshToken } = vendor.authorize("u1");
    await fetch(vendor.revocationEndpoint, { method: "POST", body: new URLSearchParams({ token: refreshToken }) });
    expect(vendor.live("u1").refreshTokens).toEqual([]);
  });
});
