/**
 * A vendor's metadata may change while the user is at the vendor; the flow keeps the values it
 * began with.
 */
import { type JsonObject, type JsonValue, OAuthError } from "@oauth-broker/oauth-core";
import { deriveKey, seal } from "@oauth-broker/token-store";
import { describe, expect, it } from "vitest";
import { expectPage, openStubServerFixture } from "../../testing/server-fixture.ts";

/** The vendor's answer, without `iss`. */
function callbackOf(vendor: URL): string {
  const state = vendor.searchParams.get("state") ?? "";
  return `/callback?${new URLSearchParams({ code: "c", state }).toString()}`;
}

describe("rfc9207#2.4 a vendor that advertised iss", () => {
  it.each([
    ["when the flow began, and no longer", true, false],
    ["only after the flow began", false, true],
  ])("%s has to send it", async (_when, then, afterwards) => {
    let issExpected = then;
    await using fixture = await openStubServerFixture({
      vendorClient: (real) => ({
        ...real,
        resolve: async (...parameters) => ({ ...(await real.resolve(...parameters)), issExpected }),
      }),
    });
    const browser = fixture.browser();
    const vendor = await browser.approve();
    issExpected = afterwards;
    expect(await expectPage(await browser.get(callbackOf(vendor)))).toContain("does not identify its issuer");
  });
});

describe("bar#AS-5 a code of ours", () => {
  it.each([3, 5, 6])("lives at least a second where the vendor's own lives %d s", async (seconds) => {
    await using fixture = await openStubServerFixture();
    Object.assign(fixture.settings.vendor.vendor, { authorizationCodeLifetimeSeconds: seconds });
    const browser = fixture.browser();
    const answer = await browser.get(callbackOf(await browser.approve()));
    const code = new URL(answer.headers.get("location") ?? "").searchParams.get("code") ?? "";
    expect((await fixture.redeem(code)).status).toBe(200);
  });
});

describe("an authorization of the previous release (format 2)", () => {
  /** The record as format 2 would have it. */
  async function asFormat2(fixture: Awaited<ReturnType<typeof openStubServerFixture>>, flowId: string) {
    const key = { kind: "authorization", id: flowId };
    const record = (await fixture.records.get(key)) ?? expect.fail("no record");
    const { purpose: _p, path: _q, issExpected: _i, startedAt: _s, ...data } = record.data;
    await fixture.records.delete(key);
    return { key, record, data: { ...data, v: 2 } as JsonObject };
  }

  it("that waits for the vendor's answer is finished", async () => {
    await using fixture = await openStubServerFixture();
    const browser = fixture.browser();
    const vendor = await browser.approve();
    const [flowId = ""] = (vendor.searchParams.get("state") ?? "").split(".");
    const { record, ...then } = await asFormat2(fixture, flowId);
    await fixture.records.create({ ...then, stage: record.stage, expiresAt: record.expiresAt });
    const answer = await browser.get(callbackOf(vendor));
    const code = new URL(answer.headers.get("location") ?? "").searchParams.get("code") ?? "";
    expect((await fixture.redeem(code)).status).toBe(200);
  });

  it.each([
    ["opens under the same code", []],
    ["bar#VR-5 outlives a vendor that is down for a moment", [503]],
  ] as const)("that waits for its client %s", async (_what, before) => {
    let isDown = before.length > 0;
    await using fixture = await openStubServerFixture({
      vendorClient: (real) => ({
        ...real,
        identify: async () => "user",
        redeemCode: async (...parameters) => {
          if (!isDown) return real.redeemCode(...parameters);
          isDown = false;
          throw new OAuthError("temporarily_unavailable", "The vendor is down");
        },
      }),
    });
    const back = await fixture.browser().connect();
    const code = back.searchParams.get("code") ?? "";
    const [flowId = ""] = code.split(".");
    const { record, key, data } = await asFormat2(fixture, flowId);
    const { sealed: _sealed, parkedAt: _p, issVerified: _v, ...rest } = data as Record<string, JsonValue>;
    const sealedCode = seal(deriveKey(code, "vendor-code"), "vendor-code", ["authorization", flowId]);
    const { stage, expiresAt } = record;
    await fixture.records.create({ key, stage, expiresAt, data: { ...rest, sealedCode } });
    for (const status of [...before, 200, 400]) expect((await fixture.redeem(code)).status).toBe(status);
  });
});
