import { Secret } from "@oauth-broker/oauth-core";
import { describe, expect, it } from "vitest";
import type { RefreshLeases } from "./refresh.ts";
import { type Bench, dueBench, fresh, KEY, LIFE_SECONDS, outage, refreshBench } from "../testing/refresh-bench.ts";

const REAUTHORIZE = { code: "invalid_grant", extras: { reason: "reauthorization_required" } };

const refusal = (bench: Bench, leases: RefreshLeases): Promise<unknown> =>
  fresh(bench, leases).then(
    (stored) => stored,
    (error: unknown) => error,
  );
/** The vendor has rotated, its answer is lost, and so is the process: an expired lease is all that is left. */
async function crash(bench: Bench): Promise<void> {
  const over = (await bench.records.read(KEY))!;
  const until = bench.time.now() + 30;
  await bench.records.note(over, { lease: { owner: "dead", until, attemptId: "dead" } });
  bench.vendor.refresh(over.stored.tokens.refreshToken!.reveal());
  bench.time.advance(30);
}

describe("invalid_grant", () => {
  it("bar#RF-4 ends the record, once: one event, no further call", async () => {
    const bench = await dueBench();
    bench.vendor.revoke(bench.vendor.live(KEY.user).refreshTokens[0]!);
    const processes = [bench.process(), bench.process()];
    for (const leases of [...processes, ...processes]) expect(await refusal(bench, leases)).toMatchObject(REAUTHORIZE);
    expect(bench.asked).toHaveLength(1);
    expect(bench.names()).toEqual(["reauthorize: refused"]);
    const row = await bench.records.read(KEY);
    expect([row?.stored.status, row?.lease]).toEqual(["reauthorize", undefined]);
  });

  it("bar#RF-4 also while the access token would still live, and for every caller that waits", async () => {
    const bench = refreshBench();
    await bench.link();
    bench.time.advance(LIFE_SECONDS - 60);
    bench.vendor.revoke(bench.vendor.live(KEY.user).refreshTokens[0]!);
    const leases = bench.process();
    const answers = await Promise.all(Array.from({ length: 5 }, () => refusal(bench, leases)));
    for (const answer of answers) expect(answer).toMatchObject(REAUTHORIZE);
    expect(bench.names()).toEqual(["reauthorize: refused"]);
  });

  it("bar#RF-4 a new authorization makes it active again", async () => {
    const bench = await dueBench();
    bench.vendor.revoke(bench.vendor.live(KEY.user).refreshTokens[0]!);
    const leases = bench.process();
    await refusal(bench, leases);
    const { accessToken } = await bench.link();
    expect((await fresh(bench, leases))?.tokens.accessToken.reveal()).toBe(accessToken.reveal());
  });

  it("bar#RF-4 another process was faster: its tokens are used", async () => {
    const bench = await dueBench();
    // The vendor refuses because meanwhile the user authorized anew, which ended the old grant.
    bench.at.before = async () => {
      bench.at.before = undefined;
      await bench.link();
    };
    const stored = await fresh(bench, bench.process());
    expect(stored?.version).toBe(2);
    expect(stored?.tokens.accessToken.reveal()).toBe(bench.vendor.live(KEY.user).accessTokens.at(-1));
    expect(bench.names()).toEqual([]);
  });

  it("bar#RF-4 the store is down just then: nothing is decided", async () => {
    const bench = await dueBench();
    bench.vendor.revoke(bench.vendor.live(KEY.user).refreshTokens[0]!);
    bench.at.after = () => {
      bench.faults.read = () => {
        throw outage();
      };
    };
    const leases = bench.process();
    expect(await refusal(bench, leases)).toMatchObject({ extras: { reason: "store_unavailable" } });
    bench.faults.read = undefined;
    bench.at.after = undefined;
    expect((await bench.records.read(KEY))?.stored.status).toBe("active");
    bench.time.advance(30);
    expect(await refusal(bench, leases)).toMatchObject(REAUTHORIZE);
  });

  it("no refresh token and no life: the vendor is not asked", async () => {
    const bench = refreshBench();
    const { refreshToken: _, ...tokens } = await bench.link();
    await bench.records.replace(KEY, tokens);
    bench.time.advance(LIFE_SECONDS - 1);
    const leases = bench.process();
    expect((await fresh(bench, leases))?.version).toBe(2);
    bench.time.advance(1);
    expect(await refusal(bench, leases)).toMatchObject(REAUTHORIZE);
    expect(bench.names()).toEqual(["reauthorize: no_refresh_token"]);
    expect(bench.asked).toEqual([]);
  });
});

describe("after a crash of our own", () => {
  it("bar#RF-5 strict: one event, and it says that the refresh was lost", async () => {
    const bench = await dueBench();
    await crash(bench);
    const leases = bench.process();
    for (let call = 0; call < 3; call += 1) expect(await refusal(bench, leases)).toMatchObject(REAUTHORIZE);
    expect(bench.names()).toEqual(["reauthorize: refresh_lost"]);
    expect(bench.asked).toHaveLength(1);
  });

  it.each(["none", "same", "grace", "retry-until-used"] as const)("bar#RF-5 %s: recovered", async (model) => {
    const bench = await dueBench({ model, graceSeconds: 60 });
    await crash(bench);
    const stored = await fresh(bench, bench.process());
    expect(stored?.version).toBe(2);
    expect(bench.vendor.live(KEY.user).refreshTokens).toContain(stored?.tokens.refreshToken?.reveal());
    expect(bench.names()).toEqual(["refreshed"]);
  });

  /** A vendor whose newest refresh token is not taken yet, or no more, while the one before it is. */
  async function withPrevious(): Promise<{ bench: Bench; first: string; refreshed: (current: string) => boolean }> {
    const bench = refreshBench({ model: "same" });
    const first = (await bench.link()).refreshToken!.reveal();
    const rotated = {
      accessToken: new Secret("at-2"),
      refreshToken: new Secret("rt-2"),
      tokenType: "Bearer",
      expiresAt: 0,
    };
    bench.time.advance(LIFE_SECONDS);
    await bench.process().withRefreshLease(KEY, async () => rotated);
    return { bench, first, refreshed: (current) => current === first };
  }

  it.each([
    [299, "refreshed"],
    [300, "reauthorize: refresh_lost"],
    [301, "reauthorize: refresh_lost"],
  ])("bar#RF-5 %i s after the rotation the previous refresh token is tried once: %s", async (seconds, event) => {
    const { bench, first } = await withPrevious();
    await crash(bench);
    bench.time.advance(seconds - 30);
    bench.events.length = 0;
    await refusal(bench, bench.process());
    expect(bench.asked).toEqual(seconds < 300 ? ["rt-2", first] : ["rt-2"]);
    expect(bench.names()).toEqual([event]);
    const row = await bench.records.read(KEY);
    if (seconds < 300) expect(row?.stored.tokens.refreshToken?.reveal()).toBe(first);
    expect(row?.lease).toBeUndefined();
  });

  it("bar#RF-5 the previous one is refused, too: lost", async () => {
    const { bench, first } = await withPrevious();
    await crash(bench);
    bench.vendor.revoke(first);
    bench.events.length = 0;
    expect(await refusal(bench, bench.process())).toMatchObject(REAUTHORIZE);
    expect(bench.asked).toEqual(["rt-2", first]);
    expect(bench.names()).toEqual(["reauthorize: refresh_lost"]);
  });

  it("bar#RF-5 an outage during that try decides nothing", async () => {
    const { bench } = await withPrevious();
    await crash(bench);
    bench.at.before = () => (bench.asked.length === 2 ? Promise.reject(outage("vendor_unavailable")) : undefined);
    const leases = bench.process();
    expect(await refusal(bench, leases)).toMatchObject({ code: "temporarily_unavailable" });
    const row = await bench.records.read(KEY);
    expect([row?.stored.status, row?.lease?.until]).toEqual(["active", bench.time.now()]);
    bench.at.before = undefined;
    expect((await fresh(bench, leases))?.version).toBe(3);
  });

  it("bar#RF-5 without a crash the previous one is not tried", async () => {
    const { bench } = await withPrevious();
    bench.events.length = 0;
    expect(await refusal(bench, bench.process())).toMatchObject(REAUTHORIZE);
    expect(bench.asked).toEqual(["rt-2"]);
    expect(bench.names()).toEqual(["reauthorize: refused"]);
  });

  it("the trace of a crash survives an attempt that failed before anything was sent", async () => {
    const bench = await dueBench();
    await crash(bench);
    const leases = bench.process();
    bench.at.before = () => Promise.reject(outage("vendor_unavailable"));
    await refusal(bench, leases);
    bench.at.before = undefined;
    await refusal(bench, leases);
    expect(bench.names()).toEqual(["refresh_failed", "reauthorize: refresh_lost"]);
  });
});
