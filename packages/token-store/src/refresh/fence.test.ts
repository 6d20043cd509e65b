import { describe, expect, it } from "vitest";
import {
  dueBench,
  fresh,
  KEY,
  LIFE_SECONDS,
  newest,
  refreshBench,
  storeDown,
  tokenOf,
} from "../testing/refresh-bench.ts";
import type { TokenSet } from "../tokens/tokens.ts";

describe("somebody else wrote meanwhile", () => {
  it("bar#8.2-7 a process that stood still is fenced: its result is dropped, the row never goes backwards", async () => {
    const bench = refreshBench({ model: "grace", graceSeconds: 60 });
    await bench.link();
    bench.time.advance(LIFE_SECONDS);
    const [zombie, other] = [bench.process(), bench.process()];
    let seen: number | undefined;
    bench.at.after = async () => {
      bench.at.after = undefined;
      bench.time.advance(40);
      seen = (await fresh(bench, other))?.version;
    };
    const stored = await fresh(bench, zombie);
    expect([seen, stored?.version]).toEqual([2, 2]);
    expect(tokenOf(stored)).toBe(newest(bench));
    expect(bench.names()).toEqual(["refreshed", "refresh_fenced"]);
    expect(bench.asked).toHaveLength(2);
  });

  it("bar#8.2-7 what was dropped is not revoked: that could end the grant the row lives on", async () => {
    const bench = refreshBench({ model: "grace", graceSeconds: 60 });
    await bench.link();
    bench.time.advance(LIFE_SECONDS);
    const discarded: TokenSet[] = [];
    const other = bench.process();
    bench.at.after = async () => {
      bench.at.after = undefined;
      bench.time.advance(40);
      await fresh(bench, other);
    };
    await bench.process().withRefreshLease(KEY, bench.refresh, { discard: (tokens) => void discarded.push(tokens) });
    expect(discarded).toEqual([]);
  });

  it.each(["revoked", "removed"])(
    "bar#RV-4 %s during the refresh: nothing is stored, the new tokens are discarded",
    async (how) => {
      const bench = await dueBench();
      bench.at.after = async () => {
        const current = (await bench.records.read(KEY))!;
        if (how === "revoked") await bench.records.note(current, { status: "revoked" });
        else await bench.records.remove(current);
      };
      const discarded: TokenSet[] = [];
      const leases = bench.process();
      const answer = await leases.withRefreshLease(KEY, bench.refresh, {
        discard: async (tokens) => void discarded.push(tokens),
      });
      expect(answer).toBeUndefined();
      expect(discarded.map(({ accessToken }) => accessToken.reveal())).toEqual([newest(bench)]);
      expect((await bench.records.read(KEY))?.stored.version).toBe(how === "revoked" ? 1 : undefined);
      expect(bench.names()).toEqual([]);
    },
  );

  it("bar#RV-4 a vendor that cannot be told is an event, and drain waits for the try", async () => {
    const bench = await dueBench();
    bench.at.after = async () => {
      await bench.records.note((await bench.records.read(KEY))!, { status: "revoked" });
    };
    const leases = bench.process();
    const gate = Promise.withResolvers<void>();
    await leases.withRefreshLease(KEY, bench.refresh, { discard: () => gate.promise });
    expect(await leases.drain(100)).toBe(1);
    gate.reject(new Error("no"));
    await bench.time.timer.sleep(1);
    expect(bench.names()).toEqual(["discard_failed"]);
  });

  it("bar#RV-4 revoked while the store would not take the commit", async () => {
    const bench = await dueBench();
    const up = storeDown(bench);
    const discarded: TokenSet[] = [];
    const leases = bench.process({ times: { commitMs: 0 } });
    const discard = (tokens: TokenSet): void => void discarded.push(tokens);
    await leases.withRefreshLease(KEY, bench.refresh, { discard }).catch(() => undefined);
    await bench.records.note((await bench.records.read(KEY))!, { status: "revoked" });
    up();
    expect(await leases.drain(5000)).toBe(0);
    expect(discarded).toHaveLength(1);
    expect((await bench.records.read(KEY))?.stored.version).toBe(1);
  });

  it("bar#8.4 a lease that was taken while ours still ran is an alarm", async () => {
    const bench = refreshBench({ model: "grace" });
    await bench.link();
    bench.time.advance(LIFE_SECONDS);
    bench.at.after = async () => {
      bench.at.after = undefined;
      const lease = { owner: "ahead", until: bench.time.now() + 330, attemptId: "ahead" };
      await bench.records.note((await bench.records.read(KEY))!, { lease });
    };
    await expect(fresh(bench, bench.process())).rejects.toMatchObject({ extras: { reason: "refresh_in_progress" } });
    expect(bench.names()).toEqual(["refresh_fenced", "clock_skew", "clock_skew"]);
  });
});

describe("drain", () => {
  it("waits for a refresh under way, and no longer than told", async () => {
    const bench = await dueBench();
    const gate = Promise.withResolvers<void>();
    bench.at.before = () => gate.promise;
    const leases = bench.process();
    const answer = fresh(bench, leases);
    expect(await leases.drain(500)).toBe(1);
    const drained = leases.drain(60_000);
    gate.resolve();
    expect(await drained).toBe(0);
    expect(tokenOf(await answer)).toBe(newest(bench));
  });
});
