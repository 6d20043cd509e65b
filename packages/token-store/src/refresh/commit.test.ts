import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@oauth-broker/oauth-core/testing";
import { beforeEach, describe, expect, it } from "vitest";
import { bridge } from "../modes/bridge.ts";
import { encrypted } from "../modes/encrypted.ts";
import {
  dieWithAnswer,
  dueFixture,
  fresh,
  isCommit,
  KEY,
  newest,
  outage,
  storeDown,
  tokenOf,
} from "../testing/refresh/fixture.ts";
import type { StoredTokens } from "../tokens/tokens.ts";

let folder: string;
beforeEach(() => {
  folder = join(temporaryFolder(), "journal");
});

describe("a store that is down", () => {
  it.each([
    [19, "stored"],
    [20, "503"],
    [21, "503"],
  ])("bar#8.2-6 for %i s: the caller is answered %s, and the answer is not lost", async (seconds, what) => {
    const fixture = await dueFixture();
    const leases = fixture.process({ journalFolder: folder });
    const since = fixture.time.now();
    fixture.faults.write = (change) => {
      if (isCommit(change) && fixture.time.now() <= since + seconds) throw outage();
    };
    const answer = await fresh(fixture, leases).catch((error: { extras: object }) => error.extras);
    if (what === "503") expect(answer).toEqual({ reason: "store_unavailable" });
    else expect(tokenOf(answer as StoredTokens)).toBe(newest(fixture));
    expect(await leases.drain(60_000)).toBe(0);
    expect((await fixture.records.read(KEY))?.stored.version).toBe(2);
    expect(fixture.asked).toHaveLength(1);
    expect(fixture.names()).toEqual(what === "503" ? ["refresh_orphaned", "orphan_settled"] : ["refreshed"]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("bar#8.2-6 meanwhile this process does not ask with the used-up refresh token", async () => {
    const fixture = await dueFixture();
    const leases = fixture.process();
    const up = storeDown(fixture);
    await expect(fresh(fixture, leases)).rejects.toMatchObject({ code: "temporarily_unavailable" });
    fixture.time.advance(60);
    await expect(fresh(fixture, leases)).rejects.toMatchObject({ extras: { reason: "refresh_in_progress" } });
    expect(fixture.asked).toHaveLength(1);
    up();
    expect(tokenOf(await fresh(fixture, leases))).toBe(newest(fixture));
    expect(fixture.asked).toHaveLength(1);
    expect(fixture.events).toContainEqual(expect.objectContaining({ name: "refresh_orphaned", journaled: false }));
  });

  it.each([encrypted, bridge])("bar#8.2-6 the journal is sealed from the first failure on: $name", async (mode) => {
    const fixture = await dueFixture({}, mode);
    const former = (await fixture.records.read(KEY))?.stored.tokens.accessToken.reveal();
    expect((await fixture.attributes())["access_token"]).toBe(mode === bridge ? former : undefined);
    storeDown(fixture);
    const leases = fixture.process({ journalFolder: folder, times: { commitMs: 0 } });
    await expect(fresh(fixture, leases)).rejects.toMatchObject({ code: "temporarily_unavailable" });
    const [name] = readdirSync(folder);
    const text = readFileSync(join(folder, name!), "utf8");
    for (const token of [former, newest(fixture), fixture.vendor.live(KEY.user).refreshTokens[0]]) {
      expect(token).toMatch(/^(at|rt)-/);
      expect(text).not.toContain(token);
    }
    expect(fixture.events).toContainEqual(expect.objectContaining({ name: "refresh_orphaned", journaled: true }));
    expect(await leases.drain(1000)).toBe(1);
  });

  it("bar#8.2-6 a process that dies: the next one replays its journal without asking the vendor", async () => {
    const fixture = await dueFixture();
    await dieWithAnswer(fixture, folder);
    fixture.time.advance(3);
    const next = fixture.process({ journalFolder: folder });
    await next.replayJournal();
    expect(tokenOf(await fresh(fixture, next))).toBe(newest(fixture));
    expect(fixture.asked).toHaveLength(1);
    expect(fixture.names()).toEqual(["refresh_orphaned", "orphan_settled"]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("bar#8.2-6 after drain it does not try again: what is left is in the journal", async () => {
    const fixture = await dueFixture();
    const up = storeDown(fixture);
    const leases = fixture.process({ journalFolder: folder, times: { commitMs: 0 } });
    await fresh(fixture, leases).catch(() => undefined);
    expect(await leases.drain(1000)).toBe(1);
    up();
    await fixture.time.timer.sleep(60_000);
    expect((await fixture.records.read(KEY))?.stored.version).toBe(1);
    expect(readdirSync(folder)).toHaveLength(1);
  });

  it("bar#8.2-6 a replay that comes too late changes nothing and is dropped", async () => {
    const fixture = await dueFixture();
    await dieWithAnswer(fixture, folder);
    const { accessToken } = await fixture.link();
    const next = fixture.process({ journalFolder: folder });
    await next.replayJournal();
    expect(tokenOf(await fresh(fixture, next))).toBe(accessToken.reveal());
    expect(fixture.events.at(-1)).toMatchObject({ name: "orphan_settled", result: "superseded" });
    expect(readdirSync(folder)).toEqual([]);
  });

  it("bar#8.2-6 a store that is down at start does not hold it up", async () => {
    const fixture = await dueFixture();
    await dieWithAnswer(fixture, folder);
    const up = storeDown(fixture);
    fixture.time.advance(60);
    const next = fixture.process({ journalFolder: folder, times: { waitMs: 0 } });
    await next.replayJournal();
    await expect(fresh(fixture, next)).rejects.toMatchObject({ extras: { reason: "refresh_in_progress" } });
    up();
    expect(await next.drain(5000)).toBe(0);
    expect((await fixture.records.read(KEY))?.stored.version).toBe(2);
    expect(fixture.asked).toHaveLength(1);
  });

  it("an outage of the keys after the vendor rotated is waited for, too", async () => {
    const fixture = await dueFixture();
    fixture.at.after = () => {
      fixture.keys.down = true;
    };
    const leases = fixture.process({ journalFolder: folder });
    const answer = fresh(fixture, leases);
    await fixture.time.timer.sleep(5000);
    fixture.keys.down = false;
    expect(tokenOf(await answer)).toBe(newest(fixture));
    // There was nothing sealed to be kept.
    expect(existsSync(folder)).toBe(false);
  });

  it("a folder that cannot be written costs the journal, not the refresh", async () => {
    const fixture = await dueFixture();
    storeDown(fixture);
    const leases = fixture.process({ journalFolder: "/dev/null/journal", times: { commitMs: 1000 } });
    await expect(fresh(fixture, leases)).rejects.toMatchObject({ code: "temporarily_unavailable" });
    expect(fixture.names()).toContain("journal_failed");
    expect(fixture.events).toContainEqual(expect.objectContaining({ name: "refresh_orphaned", journaled: false }));
    await leases.drain(0);
  });
});
