/**
 * A store while another process holds the file's write lock. The test controls time: only the
 * engine is real.
 */
import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, StatementSync } from "node:sqlite";
import { temporaryFolder } from "@oauth-broker/oauth-core/testing";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { NewRecord, RecordStore } from "@oauth-broker/oauth-core";
import { sqliteRecordStore } from "./record-store.ts";

const NOW = 1_700_000_000;
const KEY = { kind: "flow", id: "f1" };
const RECORD: NewRecord = { key: KEY, stage: "pushed", data: { code: "c1" }, expiresAt: NOW + 600 };
const FROM = { stage: "pushed", expect: { code: "c1" } };
const UNAVAILABLE = expect.objectContaining({ name: "OAuthError", code: "temporarily_unavailable", status: 503 });
const ANSWERED_WITHIN_MS = 3000;

let folder: string;
let path: string;
let store: RecordStore;
let other: DatabaseSync;

beforeEach(async () => {
  folder = temporaryFolder();
  path = join(folder, "records.sqlite");
  store = sqliteRecordStore({ path, now: () => NOW });
  await store.ping();
  other = new DatabaseSync(path);
  vi.useFakeTimers();
});

afterEach(async () => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  await store.close();
  if (other.isOpen) other.close();
});

const lock = (): void => other.exec("begin immediate");
const unlock = (): void => other.exec("rollback");

const create = (id: string): Promise<string> =>
  store.create({ ...RECORD, key: { kind: "flow", id } }).catch((error: Error) => error.message);

/** @returns the state of the call by then: its result, its error, or "pending" */
async function within<T>(milliseconds: number, ...calls: Promise<T>[]): Promise<unknown[]> {
  const answers: unknown[] = calls.map(() => "pending");
  calls.forEach((call, at) => {
    const keep = (answer: unknown): void => void (answers[at] = answer);
    call.then(keep, keep);
  });
  await vi.advanceTimersByTimeAsync(milliseconds);
  return answers;
}

/** How long each attempt to write took inside the engine, in real milliseconds. */
function timeAttempts(): number[] {
  const took: number[] = [];
  const time = <T>(attempt: () => T): T => {
    const start = process.hrtime.bigint();
    try {
      return attempt();
    } finally {
      took.push(Number(process.hrtime.bigint() - start) / 1e6);
    }
  };
  const { run } = StatementSync.prototype;
  vi.spyOn(StatementSync.prototype, "run").mockImplementation(function (this: StatementSync, ...values) {
    return time(() => run.apply(this, values));
  });
  const { exec } = DatabaseSync.prototype;
  vi.spyOn(DatabaseSync.prototype, "exec").mockImplementation(function (this: DatabaseSync, sql) {
    return sql === "begin immediate" ? time(() => exec.call(this, sql)) : exec.call(this, sql);
  });
  return took;
}

describe("a SQLite file that another process holds", () => {
  it("is waited for, and the call succeeds as soon as it is free", async () => {
    lock();
    const created = store.create(RECORD);
    expect(await within(500, created)).toEqual(["pending"]);
    unlock();
    expect(await within(100, created)).toEqual(["created"]);
  });

  it.each<[string, () => Promise<unknown>]>([
    ["create", () => store.create({ ...RECORD, key: { kind: "flow", id: "f2" } })],
    ["advance", () => store.advance(KEY, FROM, { stage: "started", set: {} })],
    ["delete", () => store.delete(KEY)],
    ["ping", () => store.ping()],
  ])("for too long fails %s within three seconds, and nothing was written", async (_what, call) => {
    await store.create(RECORD);
    lock();
    expect(await within(ANSWERED_WITHIN_MS, call())).toEqual([UNAVAILABLE]);
    expect(await store.get(KEY)).toMatchObject({ stage: "pushed" });
    expect(await store.get({ kind: "flow", id: "f2" })).toBeUndefined();
    unlock();
    await call();
  });

  it("fails every one of 200 calls within three seconds of that call", async () => {
    lock();
    const early = Array.from({ length: 100 }, (_, at) => create(`early${at}`));
    expect(new Set(await within(1500, ...early))).toEqual(new Set(["pending"]));
    const late = Array.from({ length: 100 }, (_, at) => create(`late${at}`));
    const refused = Array.from({ length: 100 }, () => expect.stringMatching(/The record store does not respond/));
    const first = within(ANSWERED_WITHIN_MS - 1500, ...early);
    expect(await first).toEqual(refused);
    expect(await within(1500, ...late)).toEqual(refused);
  });

  it("blocks the process for no attempt, and only one waiting call tries", async () => {
    lock();
    const tries = timeAttempts();
    const all = Array.from({ length: 200 }, (_, at) => create(`f${at}`));
    await within(ANSWERED_WITHIN_MS, ...all);
    expect(tries.length).toBeLessThan(100);
    // The quickest of them, as a busy machine may delay any one: an engine that waits delays all.
    expect(Math.min(...tries)).toBeLessThan(2);
  });

  it("that is free after this process was busy for longer is written: no call is refused untried", async () => {
    await store.create(RECORD);
    const calls = [
      store.create({ ...RECORD, key: { kind: "flow", id: "f2" }, expiresAt: NOW + 901 }),
      store.advance(KEY, FROM, { stage: "started", set: {} }),
      store.delete({ kind: "flow", id: "f3" }),
    ];
    vi.advanceTimersByTime(ANSWERED_WITHIN_MS);
    expect(await Promise.all(calls)).toMatchObject(["created", { outcome: "moved" }, undefined]);
  });

  it("that is still held then refuses them after one attempt", async () => {
    lock();
    const tries = timeAttempts();
    const created = store.create(RECORD);
    vi.advanceTimersByTime(ANSWERED_WITHIN_MS);
    expect(await within(0, created)).toEqual([UNAVAILABLE]);
    expect(tries).toHaveLength(1);
  });

  it("serves waiting calls in order", async () => {
    lock();
    const order: string[] = [];
    const all = ["a", "b", "c"].map((id) => create(id).then(() => order.push(id)));
    await within(300, ...all);
    expect(order).toEqual([]);
    unlock();
    const last = create("d").then(() => order.push("d"));
    await within(100, ...all, last);
    expect(order).toEqual(["a", "b", "c", "d"]);
  });

  it("is read meanwhile", async () => {
    await store.create(RECORD);
    lock();
    const waiting = create("waiting");
    expect(await store.get(KEY)).toMatchObject({ stage: "pushed" });
    unlock();
    expect(await within(100, waiting)).toEqual(["created"]);
  });

  it("lets at most a thousand calls wait: the next is refused at once", async () => {
    lock();
    const waiting = Array.from({ length: 1000 }, (_, at) => create(`f${at}`));
    await expect(store.create(RECORD)).rejects.toMatchObject({
      status: 503,
      detail: expect.stringContaining("is locked by another process"),
    });
    unlock();
    expect(new Set(await within(1000, ...waiting))).toEqual(new Set(["created"]));
  });

  it("again, between a long-lived write and the disk, answers within three seconds", async () => {
    lock();
    const created = store.create({ ...RECORD, expiresAt: NOW + 901 });
    await within(2000, created);
    unlock();
    const run = StatementSync.prototype.run;
    vi.spyOn(StatementSync.prototype, "run").mockImplementationOnce(function (this: StatementSync, ...values) {
      const changes = run.apply(this, values);
      lock();
      return changes;
    });
    expect(await within(1000, created)).toEqual([UNAVAILABLE]);
    expect(other.isTransaction).toBe(true);
  });

  it("when it is opened is waited for as well", async () => {
    const late = sqliteRecordStore({ path, now: () => NOW });
    other.exec("pragma locking_mode = exclusive");
    // A process that reads a file held like this is refused too.
    await store.close();
    other.exec("begin exclusive; create table if not exists more (x); commit");
    const answer = late.get(KEY);
    expect(await within(500, answer)).toEqual(["pending"]);
    other.close();
    expect(await within(100, answer)).toEqual([undefined]);
    await late.close();
  });

  it("ends the waiting calls when the store is closed", async () => {
    lock();
    const waiting = create("waiting");
    await store.close();
    expect(await within(100, waiting)).toEqual([expect.stringMatching(/does not respond/)]);
  });
});

describe("ping", () => {
  it("of a store that can be read but not written is refused", async () => {
    await store.create(RECORD);
    await store.close();
    other.exec("pragma wal_checkpoint(truncate)");
    other.close();
    // A write version from the future, in byte 18: the engine opens the file for reading only.
    const file = openSync(path, "r+");
    writeSync(file, Buffer.of(3), 0, 1, 18);
    closeSync(file);
    store = sqliteRecordStore({ path, now: () => NOW });
    expect(await store.get(KEY)).toMatchObject({ stage: "pushed" });
    await expect(store.ping()).rejects.toEqual(UNAVAILABLE);
  });

  it("of a store that works leaves no lock behind", async () => {
    await store.ping();
    expect(lock).not.toThrow();
  });
});
