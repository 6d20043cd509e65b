/**
 * Attacker: has seen a callback URL or one of our codes; or a client that sends every request
 * twice. Goal: two answers where one is due. Defence: a flow advances by one conditional write (the
 * store's advance).
 */
import * as brokerRecordsModule from "../../apps/broker/src/keys/broker-records.ts";
import { describe, expect, it } from "vitest";
import type { Exchange } from "./support/names.ts";
import { expectRefusalPage, without } from "./support/outcomes.ts";
import { openAtCallback, parameter, type SceneAtCallback } from "./support/actors.ts";

/** The second request gets the answer of the first. */
function neverReplayed(): void {
  without(brokerRecordsModule, ({ brokerRecords }) => ({
    brokerRecords: (options) => {
      const store = brokerRecords(options);
      const advance: typeof store.advance = async (...call) => {
        const { outcome, ...rest } = await store.advance(...call);
        return { outcome: outcome === "replayed" ? "moved" : outcome, ...rest } as never;
      };
      return { ...store, advance };
    },
  }));
}

describe("bar#CB-3 a true state used again", () => {
  async function fiftyAtOnce({ fixture, url, victim }: SceneAtCallback): Promise<Exchange[]> {
    const headers = { cookie: victim.jar.header(url) ?? "" };
    return Promise.all(Array.from({ length: 50 }, async () => fixture.request(url, { headers })));
  }

  it("is taken once of 50 at the same time, and never afterwards", async () => {
    const harness = await openAtCallback();
    const answers = await fiftyAtOnce(harness);
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 303)) expectRefusalPage(answer, "state_replayed");
    expect((await fiftyAtOnce(harness)).map(({ status }) => status)).toEqual(Array(50).fill(400));
  });

  it("is accepted from no browser once its 600 seconds are over", async () => {
    const { fixture, url, victim } = await openAtCallback();
    fixture.now.advance(600);
    const { page } = await victim.visit(url);
    expect(page?.status).toBe(400);
  });

  it("bar#CB-3 twin: if advance never says replayed each of them returns with a code", async () => {
    neverReplayed();
    const harness = await openAtCallback();
    const answers = await fiftyAtOnce(harness);
    const codes = answers.map(({ headers }) => new URL(headers.get("location") ?? "about:").searchParams.get("code"));
    expect(new Set(codes.filter((code) => code !== null)).size).toBeGreaterThan(1);
  });
});

describe("bar#XA-8 a broker's code used again", () => {
  async function redeemFiftyTimes({ backend, url, victim, flow }: SceneAtCallback) {
    const code = parameter((await victim.visit(url)).url, "code");
    const answers = await Promise.all(Array.from({ length: 50 }, async () => backend.redeem(code, flow.codeVerifier)));
    return { answers, again: async () => backend.redeem(code, flow.codeVerifier) };
  }

  it("gives tokens to one of 50 concurrent requests, and the vendor receives one", async () => {
    const harness = await openAtCallback();
    const { answers, again } = await redeemFiftyTimes(harness);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ body }) => body["error"] === "invalid_grant")).toHaveLength(49);
    expect((await again()).body["error"]).toBe("invalid_grant");
    expect(harness.honest.tokenRequests).toHaveLength(1);
  });

  it("gives no tokens after 60 seconds, although the record still exists", async () => {
    const { fixture, honest, backend, url, victim, flow } = await openAtCallback();
    const code = parameter((await victim.visit(url)).url, "code");
    fixture.now.advance(60);
    const answer = await backend.redeem(code, flow.codeVerifier);
    expect(answer).toMatchObject({ status: 400, body: { error: "invalid_grant", reason: "vendor_code_expired" } });
    expect(honest.tokenRequests).toEqual([]);
  });

  it("bar#XA-8 twin: if advance never says replayed the vendor's code is sent many times", async () => {
    neverReplayed();
    const harness = await openAtCallback();
    await redeemFiftyTimes(harness);
    expect(harness.honest.tokenRequests.length).toBeGreaterThan(1);
  });
});
