import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { RefreshLeases } from "./refresh.ts";
import { type Bench, dueBench, fresh, KEY, newest, storeDown, tokenOf } from "../testing/refresh-bench.ts";

const held = vi.hoisted(() => ({ listing: undefined as Promise<void> | undefined, reading: false }));
vi.mock("node:fs/promises", async (original) => {
  const files = await original<typeof import("node:fs/promises")>();
  return {
    ...files,
    readdir: async (path: string) => {
      await held.listing;
      return files.readdir(path);
    },
    readFile: async (path: string, encoding: "utf8") =>
      held.reading ? new Promise<never>(() => undefined) : files.readFile(path, encoding),
  };
});

let folder: string;
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), "journal-")), "journal");
  held.listing = undefined;
  held.reading = false;
});
afterEach(() => rmSync(join(folder, ".."), { recursive: true }));

/** The vendor has rotated, its answer is in the journal, the process is gone, and its lease has ended. */
async function crash(bench: Bench): Promise<void> {
  const up = storeDown(bench);
  const dying = bench.process({ journalFolder: folder, times: { commitMs: 0 } });
  await expect(fresh(bench, dying)).rejects.toMatchObject({ code: "temporarily_unavailable" });
  await dying.drain(0);
  up();
  bench.time.advance(60);
}

const next = (bench: Bench): RefreshLeases => bench.process({ journalFolder: folder });

describe("an answer that a dead process left in the journal", () => {
  it("bar#8.2-6 is found by the first call though the journal was not listed yet (#11)", async () => {
    const bench = await dueBench();
    await crash(bench);
    const listing = Promise.withResolvers<void>();
    held.listing = listing.promise;
    const leases = next(bench);
    const replay = leases.replayJournal();
    expect(tokenOf(await fresh(bench, leases))).toBe(newest(bench));
    expect(bench.asked).toHaveLength(1);
    listing.resolve();
    await replay;
    expect((await bench.records.read(KEY))?.stored).toMatchObject({ status: "active", version: 2 });
    expect(bench.names()).toEqual(["refresh_orphaned", "orphan_settled"]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("bar#8.2-6 is settled once, whether the listing or the call comes first", async () => {
    const bench = await dueBench();
    await crash(bench);
    const leases = next(bench);
    await Promise.all([leases.replayJournal(), fresh(bench, leases), leases.replayJournal(), fresh(bench, leases)]);
    expect(bench.asked).toHaveLength(1);
    expect(bench.names()).toEqual(["refresh_orphaned", "orphan_settled"]);
  });

  it("bar#8.2-6 is found by a process that listed the journal before the other one died", async () => {
    const bench = await dueBench();
    const sister = next(bench);
    await sister.replayJournal();
    await crash(bench);
    expect(tokenOf(await fresh(bench, sister))).toBe(newest(bench));
    expect(bench.asked).toHaveLength(1);
  });

  it("bar#8.2-6 that cannot be read is no reason to use its refresh token again: 503 until it can", async () => {
    const bench = await dueBench();
    await crash(bench);
    const file = join(folder, readdirSync(folder)[0]!);
    renameSync(file, `${file}.aside`);
    mkdirSync(file);
    const leases = next(bench);
    const unavailable = { code: "temporarily_unavailable", extras: { reason: "store_unavailable" } };
    await expect(fresh(bench, leases)).rejects.toMatchObject(unavailable);
    expect(bench.events.at(-1)).toEqual({ name: "journal_unreadable", path: file });
    rmdirSync(file);
    renameSync(`${file}.aside`, file);
    expect(tokenOf(await fresh(bench, leases))).toBe(newest(bench));
    expect(bench.asked).toHaveLength(1);
  });

  it("a disk that does not answer is an outage for that row, and for no other", async () => {
    const bench = await dueBench();
    await crash(bench);
    held.reading = true;
    const leases = next(bench);
    const since = bench.time.timer.elapsedMs();
    await expect(fresh(bench, leases)).rejects.toMatchObject({ extras: { reason: "store_unavailable" } });
    expect(bench.time.timer.elapsedMs() - since).toBeLessThanOrEqual(5000);
    expect(bench.asked).toHaveLength(1);
    // A new authorization: no attempt died in this row, so that the journal is not asked about it.
    await bench.link();
    bench.time.advance(3600);
    expect(tokenOf(await fresh(bench, leases))).toBe(newest(bench));
  });

  it("an attempt that left nothing behind is taken over as before", async () => {
    const bench = await dueBench({ model: "grace", graceSeconds: 600 });
    await crash(bench);
    rmSync(folder, { recursive: true });
    expect(tokenOf(await fresh(bench, next(bench)))).toBe(newest(bench));
    expect(bench.asked).toHaveLength(2);
  });
});
