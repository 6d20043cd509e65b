import { Secret } from "@oauth-broker/oauth-core";
import { describe, expect, it } from "vitest";
import {
  agedFixture,
  DUE,
  dueFixture,
  dueUsers,
  foreignLease,
  fresh,
  freshToken,
  KEY,
  LIFE_SECONDS,
  newest,
  outage,
  refreshFixture,
  tokenOf,
} from "../testing/refresh/fixture.ts";

/** Ahead of time for every record, due for none. */
const AHEAD = LIFE_SECONDS - 66;

describe("step 1: what callers get without waiting", () => {
  it("bar#8.2-1 fresh tokens go out as they are", async () => {
    const fixture = refreshFixture();
    const { accessToken } = await fixture.link();
    fixture.time.advance(LIFE_SECONDS * 0.9 - 1);
    expect(await freshToken(fixture, fixture.process())).toBe(accessToken.reveal());
    expect(fixture.asked).toEqual([]);
  });

  it("an unknown user and a revoked user have none", async () => {
    const fixture = refreshFixture();
    const leases = fixture.process();
    expect(await fresh(fixture, leases)).toBeUndefined();
    await fixture.link();
    await fixture.records.note((await fixture.records.read(KEY))!, { status: "revoked" });
    fixture.time.advance(DUE);
    expect(await fresh(fixture, leases)).toBeUndefined();
    expect(fixture.asked).toEqual([]);
  });

  it("bar#8.2-1 due tokens are refreshed, stored and returned", async () => {
    const fixture = await agedFixture(DUE);
    const stored = await fresh(fixture, fixture.process());
    const { accessTokens, refreshTokens } = fixture.vendor.live(KEY.user);
    expect(tokenOf(stored)).toBe(accessTokens.at(-1));
    const row = await fixture.records.read(KEY);
    expect(row?.stored).toEqual(stored);
    expect([row?.stored.version, row?.lease]).toEqual([2, undefined]);
    expect([row?.stored.tokens.refreshToken?.reveal()]).toEqual(refreshTokens);
    expect(fixture.events).toEqual([
      { name: "refreshed", vendor: "example", attemptId: expect.stringMatching(/^[\w-]{22}$/), version: 2 },
    ]);
  });

  it("bar#8.2-1 ahead of time one caller refreshes, the others go on with the old token at once", async () => {
    const fixture = await agedFixture(AHEAD);
    const old = newest(fixture);
    const gate = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    fixture.at.before = async () => {
      asked.resolve();
      await gate.promise;
    };
    const [a, b] = [fixture.process(), fixture.process()];
    const one = freshToken(fixture, a);
    await asked.promise;
    const { reads } = fixture.counts;
    expect(await Promise.all([freshToken(fixture, a), freshToken(fixture, a), freshToken(fixture, b)])).toEqual([
      old,
      old,
      old,
    ]);
    // One for each process: the others do not even read whether they could refresh.
    expect(fixture.counts.reads - reads).toBe(2);
    gate.resolve();
    expect(await one).not.toBe(old);
    expect(fixture.asked).toHaveLength(1);
  });

  it("ahead of time callers of one moment do not contend for the lease", async () => {
    const fixture = await agedFixture(AHEAD);
    const old = newest(fixture);
    const leases = fixture.process();
    const { writes } = fixture.counts;
    const tokens = await Promise.all(Array.from({ length: 10 }, () => freshToken(fixture, leases)));
    expect(tokens.filter((token) => token === old)).toHaveLength(9);
    expect(fixture.counts.writes - writes).toBe(2);
  });

  it("ahead of time another process's failed refresh is taken over at once", async () => {
    const fixture = await agedFixture(AHEAD);
    const old = newest(fixture);
    await foreignLease(fixture, 30);
    const leases = fixture.process();
    expect(await freshToken(fixture, leases)).toBe(old);
    await fixture.records.note((await fixture.records.read(KEY))!, { lease: null });
    expect(await freshToken(fixture, leases)).not.toBe(old);
  });

  it("a caller that needs tokens now does not share a refresh ahead of time that gave up", async () => {
    const fixture = await agedFixture(AHEAD);
    const leases = fixture.process();
    const gate = Promise.withResolvers<void>();
    fixture.at.before = () => gate.promise;
    const ahead = freshToken(fixture, leases);
    await until(() => fixture.asked.length === 1);
    fixture.time.advance(1);
    const due = freshToken(fixture, leases);
    gate.resolve();
    expect(await due).toBe(await ahead);
    expect(fixture.asked).toHaveLength(1);
  });

  it.each([
    [29, 1],
    [30, 2],
    [31, 2],
  ])("%i s after a refresh ahead of time failed, the vendor was asked %i times", async (seconds, times) => {
    const fixture = await agedFixture(36_000 - 200, { accessTokenSeconds: 36_000 });
    const old = newest(fixture);
    fixture.at.before = () => Promise.reject(outage("vendor_unavailable"));
    const leases = fixture.process();
    expect(await freshToken(fixture, leases)).toBe(old);
    fixture.time.advance(seconds);
    expect(await freshToken(fixture, leases)).toBe(old);
    expect(fixture.asked).toHaveLength(times);
  });

  it("an access token the vendor refused is refreshed, whatever its life", async () => {
    const fixture = refreshFixture();
    const old = (await fixture.link()).accessToken.reveal();
    const leases = fixture.process();
    const next = await leases.withRefreshLease(KEY, fixture.refresh, { refused: 1 });
    expect(tokenOf(next)).not.toBe(old);
    // Reported again by a slower caller: the record has moved on.
    expect(tokenOf(await leases.withRefreshLease(KEY, fixture.refresh, { refused: 1 }))).toBe(tokenOf(next));
    fixture.at.before = () => Promise.reject(outage());
    await expect(leases.withRefreshLease(KEY, fixture.refresh, { refused: 2 })).rejects.toThrow(
      "temporarily_unavailable",
    );
  });
});

describe("step 2: one at a time", () => {
  it("bar#RF-1 1,000 callers in each of 4 processes: one vendor call, one token", async () => {
    const fixture = await agedFixture(DUE);
    const processes = Array.from({ length: 4 }, () => fixture.process());
    const before = { ...fixture.counts };
    const calls = processes.flatMap((leases) => Array.from({ length: 1000 }, () => freshToken(fixture, leases)));
    const tokens = new Set(await Promise.all(calls));
    expect([...tokens]).toEqual([newest(fixture)]);
    expect(fixture.asked).toHaveLength(1);
    // Each process reads, tries for the lease, and reads again when it has lost; one commits.
    expect(fixture.counts.writes - before.writes).toBeLessThanOrEqual(4 + 1);
    expect(fixture.counts.reads - before.reads).toBeLessThanOrEqual(4 + 3);
  });

  it("bar#8.2 many records at once: so many vendor calls at a time, and all succeed", async () => {
    const { fixture, keys } = await dueUsers(60);
    let [atOnce, peak] = [0, 0];
    fixture.at.before = async () => {
      atOnce += 1;
      peak = Math.max(peak, atOnce);
      await fixture.time.timer.sleep(100);
      atOnce -= 1;
    };
    const leases = fixture.process({ concurrency: 7 });
    const all = await Promise.all(keys.map((key) => leases.withRefreshLease(key, fixture.refresh)));
    expect(all.map((stored) => stored?.version)).toEqual(keys.map(() => 2));
    expect([peak, fixture.asked.length]).toEqual([7, 60]);
  });

  it.each([
    [-1, 0],
    [0, 1],
    [1, 1],
  ])("bar#8.2-2 %i s from the end of a foreign lease it is taken %i times", async (offset, taken) => {
    const fixture = await agedFixture(DUE);
    await foreignLease(fixture, 30);
    fixture.time.advance(30 + offset);
    const answer = freshToken(fixture, fixture.process({ times: { waitMs: 0 } }));
    await answer.catch(() => undefined);
    expect(fixture.asked).toHaveLength(taken);
  });

  it("bar#8.2-2 a caller that waited goes on with the old token while it lives, else gets a 503", async () => {
    const fixture = await agedFixture(DUE);
    const old = newest(fixture);
    const leases = fixture.process();
    await foreignLease(fixture, 30);
    const started = fixture.time.timer.elapsedMs();
    expect(await freshToken(fixture, leases)).toBe(old);
    expect(fixture.time.timer.elapsedMs() - started).toBeGreaterThanOrEqual(15_000);
    expect(fixture.time.timer.elapsedMs() - started).toBeLessThan(15_300);
    fixture.time.advance(50);
    await foreignLease(fixture, 30);
    await expect(freshToken(fixture, leases)).rejects.toMatchObject({
      code: "temporarily_unavailable",
      extras: { reason: "refresh_in_progress" },
      retryAfterSeconds: 15,
    });
    expect(fixture.asked).toEqual([]);
  });

  it("a waiting caller gets what the other one stored, and takes over a lease that ends", async () => {
    const fixture = await dueFixture();
    await foreignLease(fixture, 30);
    const waiting = freshToken(fixture, fixture.process());
    await fixture.time.timer.sleep(5000);
    const over = (await fixture.records.read(KEY))!;
    const change = await fixture.records.seal(over, {
      ...over.stored.tokens,
      accessToken: new Secret("theirs"),
      expiresAt: fixture.time.now() + 60,
    });
    expect(await fixture.records.commit(change)).toBe("written");
    expect(await waiting).toBe("theirs");

    fixture.time.advance(60);
    await foreignLease(fixture, 10);
    expect(await freshToken(fixture, fixture.process())).toBe(newest(fixture));
    expect(fixture.asked).toHaveLength(1);
  });

  it.each(["a read", "a write"])("%s that fails is a 503 only where the old token is dead", async (what) => {
    const fixture = await agedFixture(DUE);
    const old = newest(fixture);
    const leases = fixture.process();
    const fail = (): never => {
      throw outage();
    };
    if (what === "a write") fixture.faults.write = fail;
    else fixture.faults.read = fail;
    if (what === "a write") expect(await freshToken(fixture, leases)).toBe(old);
    fixture.time.advance(65);
    await expect(freshToken(fixture, leases)).rejects.toMatchObject({ extras: { reason: "store_unavailable" } });
    expect(fixture.asked).toEqual([]);
  });
});

async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 1000 && !holds(); tries += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(holds()).toBe(true);
}
