import { mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fixedClock, temporaryFolder } from "@oauth-broker/oauth-core/testing";
import type { NewRecord, RecordStore } from "@oauth-broker/oauth-core";
import { sqliteRecordStore } from "./record-store.ts";

const NOW = 1_700_000_000;
const KEY = { kind: "flow", id: "f1" };
const RECORD: NewRecord = { key: KEY, stage: "pushed", data: { code: "c1" }, expiresAt: NOW + 600 };
const FROM = { stage: "pushed", expect: { code: "c1" } };
const UNAVAILABLE = expect.objectContaining({ name: "OAuthError", code: "temporarily_unavailable", status: 503 });

let folder: string;
let path: string;
let stores: RecordStore[];

beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder, "data", "records.sqlite");
  stores = [];
});

afterEach(async () => {
  for (const store of stores) await store.close();
});

function openStore(options: Partial<Parameters<typeof sqliteRecordStore>[0]> = {}): RecordStore {
  const store = sqliteRecordStore({ path, now: () => NOW, ...options });
  stores.push(store);
  return store;
}

function refusal(store: RecordStore): Promise<unknown> {
  return store.get(KEY).catch((error: unknown) => error);
}

/** Another program on our file. */
function withDatabase(use: (db: DatabaseSync) => void): void {
  mkdirSync(join(folder, "data"), { recursive: true });
  const db = new DatabaseSync(path);
  try {
    use(db);
  } finally {
    db.close();
  }
}

describe("the file of a SQLite store", () => {
  it("is made on first use, with its folder, for its owner alone", async () => {
    const store = openStore();
    expect(statSync(folder + "/data", { throwIfNoEntry: false })).toBeUndefined();
    await store.create(RECORD);
    expect(statSync(join(folder, "data")).mode & 0o777).toBe(0o700);
    for (const suffix of ["", "-wal", "-shm"]) expect(statSync(path + suffix).mode & 0o777).toBe(0o600);
  });

  it("keeps its records over a restart, also by a link to it", async () => {
    const first = openStore();
    await first.create(RECORD);
    await first.close();
    symlinkSync(path, join(folder, "link"));
    for (const again of [openStore(), openStore({ path: join(folder, "link") })]) {
      expect((await again.get(KEY))?.data).toEqual({ code: "c1" });
      await again.ping();
    }
  });

  it("that cannot be opened fails each call, not the start, and works once it can", async () => {
    writeFileSync(join(folder, "data"), "a file where the folder should be");
    const store = openStore();
    for (const call of [
      () => store.ping(),
      () => store.get(KEY),
      () => store.create(RECORD),
      () => store.advance(KEY, FROM, { stage: "s", set: {} }),
      () => store.delete(KEY),
    ]) {
      await expect(call()).rejects.toEqual(UNAVAILABLE);
    }
    expect(await refusal(store)).toMatchObject({ cause: { code: "EEXIST" }, retryAfterSeconds: 5 });
    rmSync(join(folder, "data"));
    await store.ping();
    expect(await store.create(RECORD)).toBe("created");
  });

  it("of a newer release is refused, and left as it is", async () => {
    await openStore().create(RECORD);
    withDatabase((db) => db.exec("pragma user_version = 2"));
    const error = await refusal(openStore());
    expect(error).toEqual(UNAVAILABLE);
    expect(error).toMatchObject({ cause: { code: "format_unknown" } });
    expect(String((error as { detail?: string }).detail)).toMatch(/format 2, this release knows 1/);
    withDatabase((db) => expect(db.prepare("pragma user_version").get()).toEqual({ user_version: 2 }));
  });

  it.each([
    ["of another program", "create table settings (name text)"],
    ["marked as another program's", "pragma application_id = 1"],
    ["with another program's version", "pragma user_version = 7"],
  ])("%s is refused, and left as it is", async (_what, sql) => {
    withDatabase((db) => db.exec(sql));
    const before = readFileSync(path);
    expect(await refusal(openStore())).toMatchObject({
      code: "temporarily_unavailable",
      cause: { code: "store_foreign" },
    });
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it("that is no database is refused, and left as it is", async () => {
    mkdirSync(join(folder, "data"));
    writeFileSync(path, "an old log file, given by mistake ".repeat(100));
    expect(await refusal(openStore())).toMatchObject({
      status: 503,
      detail: expect.stringMatching(/records\.sqlite is damaged, or is no database: restore it/),
    });
    expect(readFileSync(path, "utf8")).toMatch(/^an old log file/);
  });

  it.each(['canary"code"', '{"code":"canary', "null", '["canary"]'])(
    "bar#TS-17 that holds %s as a record says no word of it, and works once repaired",
    async (text) => {
      const store = openStore();
      await store.create(RECORD);
      withDatabase((db) => db.prepare("update records set data = ?").run(text));
      const error = await refusal(store);
      expect(error).toMatchObject({ status: 503, cause: { code: "format_unknown" } });
      expect(inspect(error)).not.toContain("canary");
      withDatabase((db) => db.exec('update records set data = \'{"code":"c1"}\''));
      expect((await store.get(KEY))?.stage).toBe("pushed");
    },
  );

  it("that loses its table while open fails calls, and is reopened once repaired", async () => {
    const store = openStore();
    await store.create(RECORD);
    withDatabase((db) => db.exec("alter table records rename to moved"));
    expect(await refusal(store)).toMatchObject({
      status: 503,
      detail: expect.stringMatching(/records\.sqlite cannot be used: no such table/),
    });
    withDatabase((db) => db.exec("alter table moved rename to records"));
    expect((await store.get(KEY))?.stage).toBe("pushed");
  });

  it("that was deleted under a running process is noticed by ping, then made anew", async () => {
    const store = openStore();
    await store.create(RECORD);
    rmSync(join(folder, "data"), { recursive: true });
    await expect(store.ping()).rejects.toEqual(UNAVAILABLE);
    await store.ping();
    expect(await store.get(KEY)).toBeUndefined();
    expect(await openStore().create(RECORD)).toBe("created");
    expect(await store.create(RECORD)).toBe("exists");
  });

  it("whose log alone was deleted is noticed by ping too, and what was written stays", async () => {
    const store = openStore();
    await store.create(RECORD);
    rmSync(`${path}-wal`);
    await expect(store.ping()).rejects.toEqual(UNAVAILABLE);
    await store.ping();
    expect(await openStore().get(KEY)).toMatchObject({ stage: "pushed" });
  });
});

describe("the durability of a SQLite store", () => {
  const logBytes = (): number => statSync(`${path}-wal`).size;

  it.each([
    ["a short life does not wait for the disk", 900, 0],
    ["a long life does", 901, 1],
  ])("%s", async (_what, life, syncs) => {
    const store = openStore();
    await store.create({ ...RECORD, key: { kind: "flow", id: "first" } }); // the log now has its header
    const before = logBytes();
    await store.create({ ...RECORD, expiresAt: NOW + life });
    const afterCreate = logBytes();
    await store.advance(KEY, FROM, { stage: "next", set: {} });
    const afterAdvance = logBytes();
    await store.delete(KEY);
    const frame = 4096 + 24;
    // One page for the write, one more for the commit that takes it to the disk.
    expect([afterCreate - before, afterAdvance - afterCreate, logBytes() - afterAdvance]).toEqual(
      Array.from({ length: 3 }, () => frame * (1 + syncs)),
    );
  });

  it("full is a setting of the connection, so nothing is written twice", async () => {
    const store = openStore({ durability: "full" });
    await store.create({ ...RECORD, key: { kind: "flow", id: "first" } });
    const before = logBytes();
    await store.create({ ...RECORD, expiresAt: NOW + 9999 });
    expect(logBytes() - before).toBe(4096 + 24);
  });
});

describe("housekeeping of a SQLite store", () => {
  const rows = (): number => {
    let count = 0;
    withDatabase((db) => {
      count = Number(db.prepare("select count(*) as rows from records").get()?.["rows"]);
    });
    return count;
  };
  /** The sweep waits behind a timer of 0 ms, set before this one. */
  const swept = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 2));

  it("deletes what is past keepUntil while writes go on, and nothing else", async () => {
    const clock = fixedClock(NOW);
    const store = openStore({ now: clock });
    const create = (id: string, keepUntil: number): Promise<string> =>
      store.create({ key: { kind: "flow", id }, stage: "s", data: {}, expiresAt: NOW + 10, keepUntil });
    for (let at = 0; at < 300; at += 1) await create(`due${at}`, NOW + 60);
    for (let at = 0; at < 300; at += 1) await create(`kept${at}`, NOW + 61);
    for (let at = 0; at < 10; at += 1) await create(`last${at}`, NOW + 60);
    await swept();
    expect(rows()).toBe(610);

    clock.advance(59);
    for (let at = 0; at < 64; at += 1) await create("kept0", NOW + 61);
    await swept();
    expect(rows()).toBe(610);

    clock.advance(1);
    for (let round = 0; round < 4; round += 1) {
      const before = rows();
      for (let at = 0; at < 64; at += 1) await create("kept0", NOW + 61);
      await swept();
      expect(before - rows()).toBeLessThanOrEqual(256);
    }
    expect(rows()).toBe(300);
    expect(await store.get({ kind: "flow", id: "kept299" }, { includeExpired: true })).toBeDefined();
  });
});
