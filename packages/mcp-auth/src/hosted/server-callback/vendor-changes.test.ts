/** What a vendor says of itself may change while its user is away; the flow keeps to what it began with. */
import type { JsonObject, JsonValue } from "@oauth-broker/oauth-core";
import { deriveKey, seal } from "@oauth-broker/token-store";
import { describe, expect, it } from "vitest";
import { expectPage, openStubServerBench } from "../../testing/server-bench.ts";

/** The vendor's answer, without `iss`. */
function callbackOf(vendor: URL): string {
  const state = vendor.searchParams.get("state") ?? "";
  return `/callback?${new URLSearchParams({ code: "c", state }).toString()}`;
}

describe("rfc9207#2.4 a vendor that said it sends iss", () => {
  it.each([
    ["when the flow began, and no more", true, false],
    ["only after the flow began", false, true],
  ])("%s has to send it", async (_when, then, afterwards) => {
    let issExpected = then;
    const bench = await openStubServerBench({
      vendorClient: (real) => ({
        ...real,
        resolve: async (...parameters) => ({ ...(await real.resolve(...parameters)), issExpected }),
      }),
    });
    const browser = bench.browser();
    const vendor = await browser.leave();
    issExpected = afterwards;
    expect(await expectPage(await browser.get(callbackOf(vendor)))).toContain("does not say which vendor");
    await bench.close();
  });
});

describe("bar#AS-5 a code of ours", () => {
  it.each([3, 5, 6])("lives a second at least where the vendor's own lives %d s", async (seconds) => {
    const bench = await openStubServerBench();
    Object.assign(bench.settings.vendor.vendor, { authorizationCodeLifetimeSeconds: seconds });
    const browser = bench.browser();
    const answer = await browser.get(callbackOf(await browser.leave()));
    const code = new URL(answer.headers.get("location") ?? "").searchParams.get("code") ?? "";
    expect((await bench.redeem(code)).status).toBe(200);
    await bench.close();
  });
});

describe("an authorization of the release before (format 2)", () => {
  /** The record as format 2 would have it. */
  async function asFormat2(bench: Awaited<ReturnType<typeof openStubServerBench>>, flowId: string) {
    const key = { kind: "authorization", id: flowId };
    const record = (await bench.records.get(key)) ?? expect.fail("no record");
    const { purpose: _p, path: _q, issExpected: _i, startedAt: _s, ...data } = record.data;
    await bench.records.delete(key);
    return { key, record, data: { ...data, v: 2 } as JsonObject };
  }

  it("that waits for the vendor's answer is finished", async () => {
    const bench = await openStubServerBench();
    const browser = bench.browser();
    const vendor = await browser.leave();
    const [flowId = ""] = (vendor.searchParams.get("state") ?? "").split(".");
    const { record, ...then } = await asFormat2(bench, flowId);
    await bench.records.create({ ...then, stage: record.stage, expiresAt: record.expiresAt });
    const answer = await browser.get(callbackOf(vendor));
    const code = new URL(answer.headers.get("location") ?? "").searchParams.get("code") ?? "";
    expect((await bench.redeem(code)).status).toBe(200);
    await bench.close();
  });

  it("that waits for its client opens under the same code", async () => {
    const bench = await openStubServerBench();
    const back = await bench.browser().connect();
    const code = back.searchParams.get("code") ?? "";
    const [flowId = ""] = code.split(".");
    const { record, key, data } = await asFormat2(bench, flowId);
    const { sealed: _sealed, parkedAt: _p, issVerified: _v, ...rest } = data as Record<string, JsonValue>;
    const sealedCode = seal(deriveKey(code, "vendor-code"), "vendor-code", ["authorization", flowId]);
    const { stage, expiresAt } = record;
    await bench.records.create({ key, stage, expiresAt, data: { ...rest, sealedCode } });
    expect((await bench.redeem(code)).status).toBe(200);
    expect((await bench.redeem(code)).status).toBe(400);
    await bench.close();
  });
});
