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
    const second = await refresh(first.refreshToken);
    expect([second.status, await second.json()]).toEqual([400, { error: "invalid_grant" }]);
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
    expect((await fetch(vendor.tokenEndpoint, { method: "POST", body: "{}" })).status).toBe(401);
  });

  it("holds a request after the work", async () => {
    vendor = await startRefreshVendor({ model: "strict" });
    const { refreshToken } = vendor.authorize("u1");
    const { reached, release } = vendor.hold("u1");
    const answer = refresh(refreshToken);
    await reached;
    expect(vendor.live("u1").refreshTokens).not.toContain(refreshToken);
    release();
    expect((await answer).status).toBe(200);
  });
});
