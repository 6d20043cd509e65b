import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { volume } from "@oauth-broker/oauth-core/testing";
import { nextMessage, startProcesses, stopProcess } from "../../testing/processes.ts";
import { orderRacers, race, RACE_NOW } from "../../testing/rows/record-racer.ts";
import { sqliteRecordStore } from "./record-store.ts";

const ROUNDS = volume({ test: 10, soak: 100 });
const CALLS = 50;

let folder: string;
let path: string;
let children: ChildProcess[] = [];
const limited: ChildProcess[] = [];
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "race-"));
  path = join(folder, "made", "records.sqlite");
  children = await startProcesses("./rows/record-racer.ts", [path], 2);
});
afterAll(async () => {
  await Promise.all([...children, ...limited].map((child) => stopProcess(child)));
  rmSync(folder, { recursive: true });
});

/** A process none of whose files may grow past so many blocks. */
async function startLimited(blocks: number, file: string): Promise<ChildProcess> {
  const racer = fileURLToPath(new URL("../../testing/rows/record-racer.ts", import.meta.url));
  const child = spawn("sh", ["-c", `ulimit -f ${blocks}; exec "$0" "$@"`, process.execPath, racer, file], {
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  limited.push(child);
  await nextMessage(child);
  return child;
}

describe("several processes on one SQLite file", () => {
  it("make the file and its table at the same moment", async () => {
    expect(await orderRacers(children, { what: "open" })).toEqual({ open: 2 });
    expect(await orderRacers(children, { what: "create", key: { kind: "flow", id: "first" }, times: 1 })).toEqual({
      created: 1,
      exists: 1,
    });
  });

  it("bar#CB-3 two processes, 50 parallel uses each: exactly one wins, every round", { timeout: 120_000 }, async () => {
    const store = sqliteRecordStore({ path, now: () => RACE_NOW });
    const others = 2 * CALLS - 1;
    const round = { created: { created: 1, exists: others }, advanced: { moved: 1, replayed: others }, isOwn: true };
    expect(await race(children, { store, rounds: ROUNDS, times: CALLS })).toEqual(
      Array.from({ length: ROUNDS }, () => round),
    );
  });

  it("lose no write where each commits many together", async () => {
    const rounds = Array.from({ length: 3 }, (_, round) => `spend ${round}`);
    for (const round of rounds) {
      const outcomes = await orderRacers(children, { what: "spend", round, times: 4 * CALLS });
      expect(outcomes, round).toEqual({ moved: 2 * 4 * CALLS });
    }
    const store = sqliteRecordStore({ path, now: () => RACE_NOW });
    const stages = new Map<string | undefined, number>();
    for (const { pid } of children) {
      for (const round of rounds) {
        for (let at = 0; at < 4 * CALLS; at += 1) {
          const stage = (await store.get({ kind: "code", id: `${round} ${pid} ${at}` }))?.stage;
          stages.set(stage, (stages.get(stage) ?? 0) + 1);
        }
      }
    }
    await store.close();
    expect([...stages]).toEqual([["spent", 3 * 2 * 4 * CALLS]]);
  });

  it("answers `moved` for no write that a full disk undid", async () => {
    const key = { kind: "lease", id: "l1" };
    const file = join(folder, "full.sqlite");
    const before = sqliteRecordStore({ path: file, now: () => RACE_NOW });
    await before.create({ key, stage: "live", data: { version: "0" }, expiresAt: RACE_NOW + 60 });
    await before.close();
    // The log meets its end in the middle of a commit.
    const child = await startLimited(256, file);
    const tally = await orderRacers([child], { what: "fill", key });
    expect(tally).toEqual({
      moved: expect.any(Number),
      "OAuthError: temporarily_unavailable: The record store does not respond": 1,
    });
    expect(tally["moved"]).toBeGreaterThan(10);
    await stopProcess(child);
    const after = sqliteRecordStore({ path: file, now: () => RACE_NOW });
    expect((await after.get(key))?.data).toEqual({ version: String(tally["moved"]) });
    await after.close();
  });

  it("is not ready where the disk is full, though it can be read", async () => {
    const key = { kind: "lease", id: "l1" };
    const file = join(folder, "read.sqlite");
    const store = sqliteRecordStore({ path: file, now: () => RACE_NOW });
    const times = Array.from({ length: 50 }, (_, at) => at);
    for (const at of times)
      await store.create({ key: { ...key, id: `${at}` }, stage: "s", data: {}, expiresAt: RACE_NOW });
    expect(statSync(`${file}-wal`).size).toBeGreaterThan(50 * 4096);
    // The log, which this process keeps open, is beyond the other's limit already.
    const child = await startLimited(64, file);
    expect(await orderRacers([child], { what: "advance", key, times: 1 })).toEqual({ absent: 1 });
    expect(await orderRacers([child], { what: "open" })).toEqual({
      "error OAuthError: temporarily_unavailable: The record store does not respond": 1,
    });
    await store.close();
  });

  it("lose no acknowledged write when one is killed", async () => {
    const [child] = children;
    const keys = Array.from({ length: 20 }, (_, at) => ({ kind: "code", id: `c${at}` }));
    for (const key of keys) {
      await orderRacers([child!], { what: "create", key, times: 1 });
      await orderRacers([child!], { what: "advance", key, times: 1 });
    }
    await stopProcess(child!, "SIGKILL");
    const store = sqliteRecordStore({ path, now: () => RACE_NOW });
    for (const key of keys) expect((await store.get(key))?.stage).toBe("spent");
    await store.close();
  });
});
