/**
 * Token rows in the SQLite file of record-store.ts, in a separate table beside the records: for
 * local work on a server and for a server on one machine. Its own entry, so that node:sqlite loads
 * only when chosen.
 *
 * Every write is on the disk before the call returns: a refresh token that a vendor rotated exists
 * nowhere else.
 */
import type { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { objectFromJson } from "../record-rules.ts";
import { createSqliteEngine } from "./engine.ts";
import { emptyLog, rewriteFile } from "./file.ts";
import { localRows, type RowStatements } from "../local-rows.ts";
import type { Attributes, Row, TokenRows } from "../token-rows.ts";

/**
 * Created when missing and never changed, so the file's format stays and the previous release opens
 * it too.
 */
const SCHEMA = `
  create table if not exists token_rows (
    table_name text not null,
    pk text not null,
    sk text not null,
    attributes text not null,
    primary key (table_name, pk, sk)
  ) strict, without rowid;
`;

/** Readers of the log come and go: a server's read takes microseconds. */
const LOG_TRIES = 20;
const LOG_PAUSE_MS = 100;

/**
 * @param options.table what sealed fields are bound to; rows of other tables in the file are not
 *   visible
 */
export function sqliteTokenRows(options: { readonly path: string; readonly table?: string }): TokenRows {
  const { path, table = "tokens" } = options;
  const engine = createSqliteEngine({ path, durability: "full" }, (db) => prepareStatements(db, table));
  return localRows(table, {
    read: engine.read,
    transact: engine.transact,
    eraseFreed: async () => {
      await engine.write(({ db }) => rewriteFile(db));
      /* oxlint-disable no-await-in-loop */
      for (let tries = 0; tries < LOG_TRIES; tries += 1) {
        if (await engine.write(({ db }) => emptyLog(db))) return true;
        await sleep(LOG_PAUSE_MS);
      }
      /* oxlint-enable no-await-in-loop */
      return false;
    },
    ping: engine.ping,
    close: async () => engine.close(),
  });
}

function prepareStatements(db: DatabaseSync, table: string): RowStatements & { readonly db: DatabaseSync } {
  db.exec(SCHEMA);
  const read = db.prepare("select attributes from token_rows where table_name = ? and pk = ? and sk = ?");
  const write = db.prepare("insert or replace into token_rows (table_name, pk, sk, attributes) values (?, ?, ?, ?)");
  const remove = db.prepare("delete from token_rows where table_name = ? and pk = ? and sk = ?");
  // Keys as bytes: Node.js 24.15 and 26.0 end a text they read at U+0000, and a scan that continues
  // after such a key would never end.
  const row = "select cast(pk as blob) as pk, cast(sk as blob) as sk, attributes from token_rows where table_name = ?";
  const partition = db.prepare(`${row} and pk = ? order by token_rows.sk`);
  const page = db.prepare(`${row} and (pk, sk) > (?, ?) order by token_rows.pk, token_rows.sk limit ?`);
  return {
    db,
    read: ({ pk, sk }) => {
      const found = read.get(table, pk, sk);
      return found === undefined ? undefined : parseAttributes(found);
    },
    write: ({ pk, sk }, attributes) => void write.run(table, pk, sk, JSON.stringify(attributes)),
    remove: ({ pk, sk }) => void remove.run(table, pk, sk),
    partition: (pk) => partition.all(table, pk).map(toRow),
    // No part of a key is empty, so the empty one sorts before all.
    page: (after, limit) => page.all(table, after?.pk ?? "", after?.sk ?? "", limit).map(toRow),
  };
}

function toRow(found: Record<string, unknown>): Row {
  const { pk, sk } = found as { readonly pk: Uint8Array; readonly sk: Uint8Array };
  return {
    key: { pk: Buffer.from(pk).toString(), sk: Buffer.from(sk).toString() },
    attributes: parseAttributes(found),
  };
}

/**
 * A damaged row is read as a sealed one that has lost its parts. It does not open, is counted
 * as broken, hides no other row, and the user's next sign-in replaces it.
 */
const DAMAGED: Attributes = { data_key: "" };

function parseAttributes(found: Record<string, unknown>): Attributes {
  try {
    return objectFromJson(String(found["attributes"]), "a token row") as Attributes;
  } catch {
    return DAMAGED;
  }
}
