import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { temporaryFolder } from "@oauth-broker/oauth-core/testing";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createSqliteEngine, type SqliteEngine } from "./engine.ts";

const UNAVAILABLE = expect.objectContaining({ code: "temporarily_unavailable" });

let folder: string;
let path: string;
let engine: SqliteEngine<DatabaseSync>;
let transactions: () => number;

beforeEach(async () => {
  folder = temporaryFolder();
  path = join(folder, "rows.sqlite");
  engine = createSqliteEngine({ path, durability: "normal" }, (db) => {
    db.exec("create table if not exists names (name text primary key) strict");
    return db;
  });
  await engine.ping();
  const exec = vi.spyOn(DatabaseSync.prototype, "exec");
  transactions = () => exec.mock.calls.filter(([sql]) => sql === "begin immediate").length;
});

afterEach(() => {
  vi.restoreAllMocks();
  engine.close();
});

const write = (operation: (db: DatabaseSync) => unknown, deadline = engine.deadline()): Promise<unknown> =>
  engine.writeTogether(operation, deadline).then(
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

  it("run in the order of their calls, also around one that must be alone", async () => {
    const order: string[] = [];
    const run = (name: string) => () => void order.push(name);
    await Promise.all([write(run("a")), write(run("b")), engine.write(run("c")), write(run("d"))]);
    expect(order).toEqual(["a", "b", "c", "d"]);
  });
});

describe("writes while another process holds the lock", () => {
  let other: DatabaseSync;
  beforeEach(() => {
    other = new DatabaseSync(path);
    other.exec("begin immediate");
  });
  afterEach(() => other.close());
  /** Until the waiting writes were tried in vain, so that the next ones meet a lock that is known. */
  const triedInVain = (): Promise<unknown> => vi.waitUntil(() => transactions() > 2);

  it("wait together, with those that come meanwhile, and share a transaction", async () => {
    const all = ["a", "b"].map((name) => write(insert(name)));
    await triedInVain();
    all.push(...["c", "d"].map((name) => write(insert(name))));
    const commits = vi.spyOn(DatabaseSync.prototype, "exec");
    other.exec("rollback");
    expect(await Promise.all(all)).toEqual(Array(4).fill("written"));
    expect(commits.mock.calls.filter(([sql]) => sql === "commit")).toHaveLength(1);
    expect(stored()).toEqual(["a", "b", "c", "d"]);
  });

  it("meet what that process wrote, and one that fails takes no other with it", async () => {
    const all = ["a", "b", "c"].map((name) => write(insert(name)));
    await triedInVain();
    other.exec("insert into names values ('b'); commit");
    expect(await Promise.all(all)).toEqual(["written", UNAVAILABLE, "written"]);
    expect(stored()).toEqual(["a", "b", "c"]);
  });

  it("are refused each at its own deadline, and the others are written", async () => {
    const soon = performance.now() + 100;
    const late = write(insert("late"), soon);
    const all = ["a", "b"].map((name) => write(insert(name)));
    const later = write(insert("later"), soon + 50);
    expect(await late).toEqual(UNAVAILABLE);
    expect(performance.now()).toBeGreaterThanOrEqual(soon);
    expect(await later).toEqual(UNAVAILABLE);
    other.exec("rollback");
    expect(await Promise.all(all)).toEqual(["written", "written"]);
    expect(stored()).toEqual(["a", "b"]);
  });
});
