import { Secret } from "@oauth-broker/oauth-core";
import { describe, expect, it } from "vitest";
import type { RefreshLeases } from "./refresh.ts";
import { type Bench, KEY, LIFE_SECONDS, outage, refreshBench, toTokens, tokenOf } from "../testing/refresh-bench.ts";

const DUE = LIFE_SECONDS - 65;
/** Ahead of time for every record, due for none. */
const AHEAD = LIFE_SECONDS - 66;

const fresh = async (bench: Bench, leases: RefreshLeases): Promise<string | undefined> =>
  tokenOf(await leases.withRefreshLease(KEY, bench.refresh));
/** A lease of a process that is not there. */
const foreignLease = async (bench: Bench, seconds: number): Promise<void> => {
  const until = bench.time.now() + seconds;
  await bench.records.note((await bench.records.read(KEY))!, { lease: { owner: "other", until, attemptId: "other" } });
};

describe("step 1: who gets what without waiting", () => {
  it("bar#8.2-1 fresh tokens go out as they are", async () => {
    const bench = refreshBench();
    const { accessToken } = await bench.link();
    bench.time.advance(LIFE_SECONDS * 0.9 - 1);
    expect(await fresh(bench, bench.process())).toBe(accessToken.reveal());
    expect(bench.asked).toEqual([]);
  });

  it("nobody and a revoked user have none", async () => {
    const bench = refreshBench();
    const leases = bench.process();
    expect(await leases.withRefreshLease(KEY, bench.refresh)).toBeUndefined();
    await bench.link();
    await bench.records.note((await bench.records.read(KEY))!, { status: "revoked" });
    bench.time.advance(DUE);
    expect(await leases.withRefreshLease(KEY, bench.refresh)).toBeUndefined();
    expect(bench.asked).toEqual([]);
  });

  it("bar#8.2-1 due tokens are refreshed, stored and returned", async () => {
    const bench = refreshBench();
    await bench.link();
    bench.time.advance(DUE);
    const stored = await bench.process().withRefreshLease(KEY, bench.refresh);
    const { accessTokens, refreshTokens } = bench.vendor.live(KEY.user);
    expect(tokenOf(stored)).toBe(accessTokens.at(-1));
    const row = await bench.records.read(KEY);
    expect(row?.stored).toEqual(stored);
    expect([row?.stored.version, row?.lease]).toEqual([2, undefined]);
    expect([row?.stored.tokens.refreshToken?.reveal()]).toEqual(refreshTokens);
    expect(bench.events).toEqual([
      { name: "refreshed", vendor: "example", attemptId: expect.stringMatching(/^[\w-]{22}$/), version: 2 },
    ]);
  });

  it("bar#8.2-1 ahead of time one caller refreshes, the others go on with the old token at once", async () => {
    const bench = refreshBench();
    const old = (await bench.link()).accessToken.reveal();
    bench.time.advance(AHEAD);
    const gate = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    bench.at.before = async () => {
      asked.resolve();
      await gate.promise;
    };
    const [a, b] = [bench.process(), bench.process()];
    const one = fresh(bench, a);
    await asked.promise;
    const { reads } = bench.counts;
    expect(await Promise.all([fresh(bench, a), fresh(bench, a), fresh(bench, b)])).toEqual([old, old, old]);
    // One for each process: they do not so much as look whether they could refresh.
    expect(bench.counts.reads - reads).toBe(2);
    gate.resolve();
    expect(await one).not.toBe(old);
    expect(bench.asked).toHaveLength(1);
  });

  it("ahead of time callers of one moment do not contend for the lease", async () => {
    const bench = refreshBench();
    const old = (await bench.link()).accessToken.reveal();
    bench.time.advance(AHEAD);
    const leases = bench.process();
    const { writes } = bench.counts;
    const tokens = await Promise.all(Array.from({ length: 10 }, () => fresh(bench, leases)));
    expect(tokens.filter((token) => token === old)).toHaveLength(9);
    expect(bench.counts.writes - writes).toBe(2);
  });

  it("ahead of time somebody else's refresh that failed is taken up at once", async () => {
    const bench = refreshBench();
    const old = (await bench.link()).accessToken.reveal();
    bench.time.advance(AHEAD);
    await foreignLease(bench, 30);
    const leases = bench.process();
    expect(await fresh(bench, leases)).toBe(old);
    await bench.records.note((await bench.records.read(KEY))!, { lease: null });
    expect(await fresh(bench, leases)).not.toBe(old);
  });

  it("who needs tokens now does not share a refresh ahead of time that gave up", async () => {
    const bench = refreshBench();
    await bench.link();
    bench.time.advance(AHEAD);
    const leases = bench.process();
    const gate = Promise.withResolvers<void>();
    bench.at.before = () => gate.promise;
    const ahead = fresh(bench, leases);
    await until(() => bench.asked.length === 1);
    bench.time.advance(1);
    const due = fresh(bench, leases);
    gate.resolve();
    expect(await due).toBe(await ahead);
    expect(bench.asked).toHaveLength(1);
  });

  it.each([
    [29, 1],
    [30, 2],
    [31, 2],
  ])("%i s after a refresh ahead of time failed, the vendor was asked %i times", async (seconds, times) => {
    const bench = refreshBench({ accessTokenSeconds: 36_000 });
    const old = (await bench.link()).accessToken.reveal();
    bench.time.advance(36_000 - 200);
    bench.at.before = () => Promise.reject(outage("vendor_unavailable"));
    const leases = bench.process();
    expect(await fresh(bench, leases)).toBe(old);
    bench.time.advance(seconds);
    expect(await fresh(bench, leases)).toBe(old);
    expect(bench.asked).toHaveLength(times);
  });

  it("an access token the vendor refused is refreshed, whatever its life", async () => {
    const bench = refreshBench();
    const old = (await bench.link()).accessToken.reveal();
    const leases = bench.process();
    const next = await leases.withRefreshLease(KEY, bench.refresh, { refused: 1 });
    expect(tokenOf(next)).not.toBe(old);
    // Said again by a caller that was slower: the record has moved on.
    expect(tokenOf(await leases.withRefreshLease(KEY, bench.refresh, { refused: 1 }))).toBe(tokenOf(next));
    bench.at.before = () => Promise.reject(outage());
    await expect(leases.withRefreshLease(KEY, bench.refresh, { refused: 2 })).rejects.toThrow(
      "temporarily_unavailable",
    );
  });
});

describe("step 2: one at a time", () => {
  it("bar#RF-1 1,000 callers in each of 4 processes: one vendor call, one token", async () => {
    const bench = refreshBench();
    await bench.link();
    bench.time.advance(DUE);
    const processes = Array.from({ length: 4 }, () => bench.process());
    const before = { ...bench.counts };
    const calls = processes.flatMap((leases) => Array.from({ length: 1000 }, () => fresh(bench, leases)));
    const tokens = new Set(await Promise.all(calls));
    expect([...tokens]).toEqual([bench.vendor.live(KEY.user).accessTokens.at(-1)]);
    expect(bench.asked).toHaveLength(1);
    // Each process reads, tries for the lease, and reads again when it has lost; one commits.
    expect(bench.counts.writes - before.writes).toBeLessThanOrEqual(4 + 1);
    expect(bench.counts.reads - before.reads).toBeLessThanOrEqual(4 + 3);
  });

  it("bar#8.2 many records at once: so many vendor calls at a time, and all get through", async () => {
    const bench = refreshBench();
    const keys = Array.from({ length: 60 }, (_, at) => ({ ...KEY, user: `user ${at}` }));
    for (const key of keys)
      await bench.records.replace(key, toTokens(bench.vendor.authorize(key.user), bench.time.now()));
    bench.time.advance(LIFE_SECONDS);
    let [atOnce, peak] = [0, 0];
    bench.at.before = async () => {
      atOnce += 1;
      peak = Math.max(peak, atOnce);
      await bench.time.timer.sleep(100);
      atOnce -= 1;
    };
    const leases = bench.process({ concurrency: 7 });
    const all = await Promise.all(keys.map((key) => leases.withRefreshLease(key, bench.refresh)));
    expect(all.map((stored) => stored?.version)).toEqual(keys.map(() => 2));
    expect([peak, bench.asked.length]).toEqual([7, 60]);
  });

  it.each([
    [-1, 0],
    [0, 1],
    [1, 1],
  ])("bar#8.2-2 %i s from the end of a foreign lease it is taken %i times", async (offset, taken) => {
    const bench = refreshBench();
    await bench.link();
    bench.time.advance(DUE);
    await foreignLease(bench, 30);
    bench.time.advance(30 + offset);
    const answer = fresh(bench, bench.process({ times: { waitMs: 0 } }));
    await answer.catch(() => undefined);
    expect(bench.asked).toHaveLength(taken);
  });

  it("bar#8.2-2 who waited long enough goes on with the old token while it lives, else gets a 503", async () => {
    const bench = refreshBench();
    const old = (await bench.link()).accessToken.reveal();
    bench.time.advance(DUE);
    const leases = bench.process();
    await foreignLease(bench, 30);
    const started = bench.time.timer.elapsedMs();
    expect(await fresh(bench, leases)).toBe(old);
    expect(bench.time.timer.elapsedMs() - started).toBeGreaterThanOrEqual(15_000);
    expect(bench.time.timer.elapsedMs() - started).toBeLessThan(15_300);
    bench.time.advance(50);
    await foreignLease(bench, 30);
    await expect(fresh(bench, leases)).rejects.toMatchObject({
      code: "temporarily_unavailable",
      extras: { reason: "refresh_in_progress" },
      retryAfterSeconds: 15,
    });
    expect(bench.asked).toEqual([]);
  });

  it("who waits gets what the other one stored, and takes over a lease that ends", async () => {
    const bench = refreshBench();
    await bench.link();
    bench.time.advance(LIFE_SECONDS);
    await foreignLease(bench, 30);
    const waiting = fresh(bench, bench.process());
    await bench.time.timer.sleep(5000);
    const over = (await bench.records.read(KEY))!;
    const change = await bench.records.seal(over, {
      ...over.stored.tokens,
      accessToken: new Secret("theirs"),
      expiresAt: bench.time.now() + 60,
    });
    expect(await bench.records.commit(change)).toBe("written");
    expect(await waiting).toBe("theirs");

    bench.time.advance(60);
    await foreignLease(bench, 10);
    expect(await fresh(bench, bench.process())).toBe(bench.vendor.live(KEY.user).accessTokens.at(-1));
    expect(bench.asked).toHaveLength(1);
  });

  it.each(["a read", "a write"])("%s that fails is a 503 only where the old token is dead", async (what) => {
    const bench = refreshBench();
    const old = (await bench.link()).accessToken.reveal();
    bench.time.advance(DUE);
    const leases = bench.process();
    const fail = (): never => {
      throw outage();
    };
    if (what === "a write") bench.faults.write = fail;
    else bench.faults.read = fail;
    if (what === "a write") expect(await fresh(bench, leases)).toBe(old);
    bench.time.advance(65);
    await expect(fresh(bench, leases)).rejects.toMatchObject({ extras: { reason: "store_unavailable" } });
    expect(bench.asked).toEqual([]);
  });
});

async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 1000 && !holds(); tries += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(holds()).toBe(true);
}
