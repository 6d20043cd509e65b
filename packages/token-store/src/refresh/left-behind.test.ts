import files from "node:fs/promises";
import { mkdirSync, readdirSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { temporaryFolder } from "@oauth-broker/oauth-core/testing";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { RefreshLeases } from "./refresh.ts";
import { dieWithAnswer, dueFixture, type Fixture, fresh, KEY, newest, tokenOf } from "../testing/refresh/fixture.ts";

const { readdir, readFile } = files;
let held: { listing?: Promise<void>; reading?: true };

let folder: string;
beforeEach(() => {
  folder = join(temporaryFolder(), "journal");
  held = {};
  vi.spyOn(files, "readdir").mockImplementation(async (path) => {
    await held.listing;
    return readdir(path) as never;
  });
  vi.spyOn(files, "readFile").mockImplementation(async (...args) =>
    held.reading ? new Promise<never>(() => undefined) : readFile(...args),
  );
  syncBuiltinESMExports();
});
afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

/**
 * The vendor has rotated, its response is in the journal, the process has died, and its lease has
 * ended.
 */
async function crash(fixture: Fixture): Promise<Fixture> {
  await dieWithAnswer(fixture, folder);
  fixture.time.advance(60);
  return fixture;
}

const next = (fixture: Fixture): RefreshLeases => fixture.process({ journalFolder: folder });

describe("an answer that a dead process left in the journal", () => {
  it("bar#8.2-6 is found by the first call though the journal was not listed yet (#11)", async () => {
    const fixture = await crash(await dueFixture());
    const listing = Promise.withResolvers<void>();
    held.listing = listing.promise;
    const leases = next(fixture);
    const replay = leases.replayJournal();
    expect(tokenOf(await fresh(fixture, leases))).toBe(newest(fixture));
    expect(fixture.asked).toHaveLength(1);
    listing.resolve();
    await replay;
    expect((await fixture.records.read(KEY))?.stored).toMatchObject({ status: "active", version: 2 });
    expect(fixture.names()).toEqual(["refresh_orphaned", "orphan_settled"]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("bar#8.2-6 is settled once, whether the listing or the call comes first", async () => {
    const fixture = await crash(await dueFixture());
    const leases = next(fixture);
    await Promise.all([leases.replayJournal(), fresh(fixture, leases), leases.replayJournal(), fresh(fixture, leases)]);
    expect(fixture.asked).toHaveLength(1);
    expect(fixture.names()).toEqual(["refresh_orphaned", "orphan_settled"]);
  });

  it("bar#8.2-6 is found by a process that listed the journal before the other one died", async () => {
    const fixture = await dueFixture();
    const sister = next(fixture);
    await sister.replayJournal();
    await crash(fixture);
    expect(tokenOf(await fresh(fixture, sister))).toBe(newest(fixture));
    expect(fixture.asked).toHaveLength(1);
  });

  it("bar#8.2-6 that cannot be read does not free its refresh token: 503 until then", async () => {
    const fixture = await crash(await dueFixture());
    const file = join(folder, readdirSync(folder)[0]!);
    renameSync(file, `${file}.aside`);
    mkdirSync(file);
    const leases = next(fixture);
    const unavailable = { code: "temporarily_unavailable", extras: { reason: "store_unavailable" } };
    await expect(fresh(fixture, leases)).rejects.toMatchObject(unavailable);
    expect(fixture.events.at(-1)).toEqual({ name: "journal_unreadable", path: file });
    rmdirSync(file);
    renameSync(`${file}.aside`, file);
    expect(tokenOf(await fresh(fixture, leases))).toBe(newest(fixture));
    expect(fixture.asked).toHaveLength(1);
  });

  it("a disk that does not answer is an outage for that row, and for no other", async () => {
    const fixture = await crash(await dueFixture());
    held.reading = true;
    const leases = next(fixture);
    const since = fixture.time.timer.elapsedMs();
    await expect(fresh(fixture, leases)).rejects.toMatchObject({ extras: { reason: "store_unavailable" } });
    expect(fixture.time.timer.elapsedMs() - since).toBeLessThanOrEqual(5000);
    expect(fixture.asked).toHaveLength(1);
    // A new authorization: no attempt died in this row, so the journal is not read for it.
    await fixture.link();
    fixture.time.advance(3600);
    expect(tokenOf(await fresh(fixture, leases))).toBe(newest(fixture));
  });

  it("an attempt that left nothing behind is taken over as before", async () => {
    const fixture = await crash(await dueFixture({ model: "grace", graceSeconds: 600 }));
    rmSync(folder, { recursive: true });
    expect(tokenOf(await fresh(fixture, next(fixture)))).toBe(newest(fixture));
    expect(fixture.asked).toHaveLength(2);
  });
});
