/**
 * Tables of a given number of rows, some of which are read: does a read cost more in a larger
 * table? The other rows are copies of a sealed one under keys in between, of the same size except
 * for the key. They do not open and are never read.
 */
import { DatabaseSync } from "node:sqlite";
import { sqliteTokenRows } from "@oauth-broker/token-store/sqlite";
import { type Item, openBare } from "./store-bare.ts";
import type { Engines } from "./store-engines.ts";
import { READERS } from "./store-subjects.ts";
import { inTurn, keyOf, openStore, readUser, requireSealed, rowKeyOf, writeUsers } from "./store-tokens.ts";

export interface SizedTable {
  /** One read of the token store. */
  readonly read: () => Promise<void>;
  /**
   * Creates the rows of these numbers, the last excluded, except those that are read.
   * @returns how many those were
   */
  fill(from: number, to: number): Promise<number>;
  close(): Promise<void>;
}

/**
 * @param rows the number of rows to fill; at least READERS
 * @param sqlitePath for SQLite instead of `engines`
 */
export async function openSized(engines: Engines, rows: number, sqlitePath?: string): Promise<SizedTable> {
  const store =
    sqlitePath === undefined ? openStore(engines) : openStore(engines, sqliteTokenRows({ path: sqlitePath }));
  const step = Math.floor(rows / READERS);
  const isRead = (at: number): boolean => at % step === 0 && at < READERS * step;
  const readers = Array.from({ length: READERS }, (_, at) => userAt(at * step));
  await writeUsers(store, readers);
  const filling =
    sqlitePath === undefined ? await fillingOf(engines, readers[0]!) : sqliteFilling(sqlitePath, readers[0]!);
  const next = inTurn(readers.map(keyOf));
  return {
    read: () => readUser(store, next()),
    fill: async (from, to) => {
      const numbers = Array.from({ length: to - from }, (_, at) => from + at).filter((at) => !isRead(at));
      await filling.copyTo(numbers.map((at) => rowKeyOf(userAt(at)).pk));
      return numbers.length;
    },
    close: async () => {
      filling.close();
      await store.close();
    },
  };
}

/** Makes the order of the keys that of the numbers. */
function userAt(number: number): string {
  return `user-${String(number).padStart(8, "0")}`;
}

interface Filling {
  copyTo(pks: readonly string[]): Promise<void>;
  close(): void;
}

async function fillingOf(engines: Engines, user: string): Promise<Filling> {
  const bare = openBare(engines);
  const sealed = await bare.get(rowKeyOf(user));
  requireSealed(sealed);
  return {
    copyTo: async (pks) => {
      const left = pks.map((pk): Item => ({ ...sealed, pk: { S: pk } }));
      const lane = async (): Promise<void> => {
        while (left.length > 0) await bare.fill(left.splice(0, 25));
      };
      await Promise.all(Array.from({ length: 8 }, lane));
    },
    close: () => bare.close(),
  };
}

/** Bypasses the store, which would sync every row to the disk before the next. */
function sqliteFilling(path: string, user: string): Filling {
  const db = new DatabaseSync(path);
  const { pk, sk } = rowKeyOf(user);
  const sealed = db.prepare("select * from token_rows where pk = ? and sk = ?").get(pk, sk) ?? {};
  requireSealed(JSON.parse(String(sealed["attributes"])) as Record<string, unknown>);
  const insert = db.prepare("insert into token_rows (table_name, pk, sk, attributes) values (?, ?, ?, ?)");
  return {
    copyTo: async (pks) => {
      db.exec("begin");
      for (const pk of pks) insert.run(sealed["table_name"]!, pk, sk, sealed["attributes"]!);
      db.exec("commit");
    },
    close: () => db.close(),
  };
}
