import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RefreshLeases } from "./refresh-lease.ts";
import type { RowChange } from "./rows/token-rows.ts";
import { type Bench, KEY, LIFE_SECONDS, outage, refreshBench } from "./testing/refresh-bench.ts";
import type { StoredTokens, TokenSet } from "./tokens.ts";

let folder: string;
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), "journal-")), "journal");
});
afterEach(() => rmSync(join(folder, ".."), { recursive: true }));

const isCommit = ({ set }: RowChange): boolean => Object.hasOwn(set, "written_at");
const tokenOf = (stored: StoredTokens | undefined): string | undefined => stored?.tokens.accessToken.reveal();
const fresh = (bench: Bench, leases: RefreshLeases): Promise<StoredTokens | undefined> =>
  leases.withRefreshLease(KEY, bench.refresh);
const newest = (bench: Bench): string | undefined => bench.vendor.live(KEY.user).accessTokens.at(-1);

async function dueBench(): Promise<Bench> {
  const bench = refreshBench();
  await bench.link();
  bench.time.advance(LIFE_SECONDS);
  return bench;
}

/** Every commit fails until the result is called. */
function storeDown(bench: Bench): () => void {
  bench.faults.write = (change) => {
    if (isCommit(change)) throw outage();
  };
  return () => {
    bench.faults.write = undefined;
  };
}

describe("a commit whose answer is lost", () => {
  it("bar#8.2-5 is repeated and recognised: one vendor call, no false fence", async () => {
    const bench = await dueBench();
    let commits = 0;
    bench.faults.write = (change) => {
      if (!isCommit(change)) return undefined;
      commits += 1;
      return commits === 1 ? "lose" : undefined;
    };
    const stored = await fresh(bench, bench.process({ journalFolder: folder }));
    expect(tokenOf(stored)).toBe(newest(bench));
    expect([commits, bench.asked.length]).toEqual([2, 1]);
    expect((await bench.records.read(KEY))?.stored).toEqual(stored);
    expect(bench.names()).toEqual(["refreshed"]);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe("a store that is down", () => {
  it.each([
    [19, "stored"],
    [20, "503"],
    [21, "503"],
  ])("bar#8.2-6 for %i s: the caller is answered %s, and the answer is not lost", async (seconds, what) => {
    const bench = await dueBench();
    const leases = bench.process({ journalFolder: folder });
    const since = bench.time.now();
    bench.faults.write = (change) => {
      if (isCommit(change) && bench.time.now() <= since + seconds) throw outage();
    };
    const answer = await fresh(bench, leases).catch((error: { extras: object }) => error.extras);
    if (what === "503") expect(answer).toEqual({ reason: "store_unavailable" });
    else expect(tokenOf(answer as StoredTokens)).toBe(newest(bench));
    expect(await leases.drain(60_000)).toBe(0);
    expect((await bench.records.read(KEY))?.stored.version).toBe(2);
    expect(bench.asked).toHaveLength(1);
    expect(bench.names()).toEqual(what === "503" ? ["refresh_orphaned", "orphan_settled"] : ["refreshed"]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("bar#8.2-6 meanwhile this process does not ask with the used-up refresh token", async () => {
    const bench = await dueBench();
    const leases = bench.process();
    const up = storeDown(bench);
    await expect(fresh(bench, leases)).rejects.toMatchObject({ code: "temporarily_unavailable" });
    bench.time.advance(60);
    await expect(fresh(bench, leases)).rejects.toMatchObject({ extras: { reason: "refresh_in_progress" } });
    expect(bench.asked).toHaveLength(1);
    up();
    expect(tokenOf(await fresh(bench, leases))).toBe(newest(bench));
    expect(bench.asked).toHaveLength(1);
    expect(bench.events).toContainEqual(expect.objectContaining({ name: "refresh_orphaned", journaled: false }));
  });

  it("bar#8.2-6 the journal holds nothing in the clear, for this user alone, from the first failure on", async () => {
    const bench = await dueBench();
    storeDown(bench);
    const leases = bench.process({ journalFolder: folder, times: { commitMs: 0 } });
    await expect(fresh(bench, leases)).rejects.toMatchObject({ code: "temporarily_unavailable" });
    const [name] = readdirSync(folder);
    const text = readFileSync(join(folder, name!), "utf8");
    expect(text).not.toContain(newest(bench));
    expect(text).not.toContain(bench.vendor.live(KEY.user).refreshTokens[0]);
    expect(bench.events).toContainEqual(expect.objectContaining({ name: "refresh_orphaned", journaled: true }));
    expect(await leases.drain(1000)).toBe(1);
  });

  it("bar#8.2-6 a process that dies: the next one replays its journal and asks nobody", async () => {
    const bench = await dueBench();
    const up = storeDown(bench);
    const dying = bench.process({ journalFolder: folder, times: { commitMs: 0 } });
    await expect(fresh(bench, dying)).rejects.toMatchObject({ code: "temporarily_unavailable" });
    await dying.drain(0);
    up();
    bench.time.advance(3);
    const next = bench.process({ journalFolder: folder });
    await next.replayJournal();
    expect(tokenOf(await fresh(bench, next))).toBe(newest(bench));
    expect(bench.asked).toHaveLength(1);
    expect(bench.names()).toEqual(["refresh_orphaned", "orphan_settled"]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("bar#8.2-6 a replay that comes too late changes nothing and is dropped", async () => {
    const bench = await dueBench();
    const up = storeDown(bench);
    const dying = bench.process({ journalFolder: folder, times: { commitMs: 0 } });
    await fresh(bench, dying).catch(() => undefined);
    await dying.drain(0);
    up();
    const { accessToken } = await bench.link();
    const next = bench.process({ journalFolder: folder });
    await next.replayJournal();
    expect(tokenOf(await fresh(bench, next))).toBe(accessToken.reveal());
    expect(bench.events.at(-1)).toMatchObject({ name: "orphan_settled", result: "superseded" });
    expect(readdirSync(folder)).toEqual([]);
  });

  it("bar#8.2-6 a store that is down at start does not hold it up; the row is left alone until it is written", async () => {
    const bench = await dueBench();
    const up = storeDown(bench);
    const dying = bench.process({ journalFolder: folder, times: { commitMs: 0 } });
    await fresh(bench, dying).catch(() => undefined);
    await dying.drain(0);
    bench.time.advance(60);
    const next = bench.process({ journalFolder: folder, times: { waitMs: 0 } });
    await next.replayJournal();
    await expect(fresh(bench, next)).rejects.toMatchObject({ extras: { reason: "refresh_in_progress" } });
    up();
    expect(await next.drain(5000)).toBe(0);
    expect((await bench.records.read(KEY))?.stored.version).toBe(2);
    expect(bench.asked).toHaveLength(1);
  });

  it("keys that go away after the vendor rotated are waited for, too", async () => {
    const bench = await dueBench();
    bench.at.after = () => {
      bench.keys.down = true;
    };
    const leases = bench.process({ journalFolder: folder });
    const answer = fresh(bench, leases);
    await bench.time.timer.sleep(5000);
    bench.keys.down = false;
    expect(tokenOf(await answer)).toBe(newest(bench));
    // There was nothing sealed to be kept.
    expect(existsSync(folder)).toBe(false);
  });

  it("a folder that cannot be written costs the journal, not the refresh", async () => {
    const bench = await dueBench();
    storeDown(bench);
    const leases = bench.process({ journalFolder: "/dev/null/journal", times: { commitMs: 1000 } });
    await expect(fresh(bench, leases)).rejects.toMatchObject({ code: "temporarily_unavailable" });
    expect(bench.names()).toContain("journal_failed");
    expect(bench.events.at(-1)).toMatchObject({ name: "refresh_orphaned", journaled: false });
    await leases.drain(0);
  });
});

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
