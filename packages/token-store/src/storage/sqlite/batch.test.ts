import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createBatch, type Batch } from "./batch.ts";
import { createSqliteEngine, type SqliteEngine } from "./engine.ts";

const UNAVAILABLE = expect.objectContaining({ code: "temporarily_unavailable" });

let folder: string;
let path: string;
let engine: SqliteEngine<DatabaseSync>;
let batch: Batch<DatabaseSync>;
let transactions: () => number;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "batch-"));
  path = join(folder, "rows.sqlite");
  engine = createSqliteEngine({ path, durability: "normal" }, (db) => {
    db.exec("create table if not exists names (name text primary key) strict");
    return db;
  });
  await engine.ping();
  batch = createBatch(engine);
  const exec = vi.spyOn(DatabaseSync.prototype, "exec");
  transactions = () => exec.mock.calls.filter(([sql]) => sql === "begin immediate").length;
});

afterEach(() => {
  vi.restoreAllMocks();
  engine.close();
  rmSync(folder, { recursive: true });
});

const write = (operation: (db: DatabaseSync) => unknown): Promise<unknown> =>
  batch.write(operation, engine.deadline()).then(
    () => "written",
    (error: unknown) => error,
  );
const insert =
  (name: string) =>
  (db: DatabaseSync): void =>
    void db.prepare("insert into names values (?)").run(name);
const stored = (): unknown[] => {
  const db = new DatabaseSync(path);
  const rows = db.prepare("select name from names order by name").all();
  db.close();
  return rows.map(({ name }) => name);
};

describe("writes of one turn of the event loop", () => {
  it("share a transaction; one alone has none", async () => {
    expect(await write(insert("a"))).toBe("written");
    expect(transactions()).toBe(0);
    expect(await Promise.all(["b", "c", "d"].map((name) => write(insert(name))))).toEqual(Array(3).fill("written"));
    expect(transactions()).toBe(1);
    expect(stored()).toEqual(["a", "b", "c", "d"]);
  });

  it("are at most 64 in one", async () => {
    const names = Array.from({ length: 130 }, (_, at) => `n${at}`);
    await Promise.all(names.map((name) => write(insert(name))));
    expect(transactions()).toBe(3);
    expect(stored()).toHaveLength(130);
  });

  it("are not lost with one that fails", async () => {
    await write(insert("a"));
    expect(await Promise.all(["b", "a", "c"].map((name) => write(insert(name))))).toEqual([
      "written",
      UNAVAILABLE,
      "written",
    ]);
    expect(stored()).toEqual(["a", "b", "c"]);
  });

  it("all fail where SQLite undid the transaction, and nothing is written outside of it", async () => {
    const fail = (db: DatabaseSync): void => {
      db.exec("rollback");
      throw new Error("database or disk is full");
    };
    expect(await Promise.all([write(insert("a")), write(fail), write(insert("b"))])).toEqual(
      Array(3).fill(UNAVAILABLE),
    );
    expect(stored()).toEqual([]);
    expect(await write(insert("c"))).toBe("written");
  });

  it("wait one by one while another process holds the lock", async () => {
    const other = new DatabaseSync(path);
    other.exec("begin immediate");
    const all = ["a", "b", "c"].map((name) => write(insert(name)));
    await vi.waitUntil(() => engine.isContended());
    other.exec("rollback");
    other.close();
    expect(await Promise.all(all)).toEqual(Array(3).fill("written"));
    expect(stored()).toEqual(["a", "b", "c"]);
  });
});
