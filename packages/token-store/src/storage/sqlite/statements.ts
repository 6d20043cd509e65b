/** The SQL of record-store.ts, prepared once. Every value is a bound parameter. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { LRUCache } from "lru-cache";
import type { From, NewRecord, Patch, RecordKey, StoredRecord } from "@oauth-broker/oauth-core";
import { APPLICATION_ID, type Durability } from "./file.ts";
import { isAsExpected, keepUntilOf, objectFromJson, patchedData, recordName } from "../record-rules.ts";

export type Statements = ReturnType<typeof prepareStatements>;

/** As SQLite holds it: `data` is JSON. */
type Row = Omit<StoredRecord, "key" | "data"> & { readonly data: string };

/** Enough for the calls under way: an advance comes soon after the read or write before it. */
const MOST_ROWS = 1_000;

/** @param durability of the connection, which `flush` changes only for the moment of its write */
export function prepareStatements(db: DatabaseSync, durability: Durability) {
  const read = prepare(db, "select stage, data, expires_at, keep_until from records where kind = ? and id = ?");
  // An expired record of the same key counts as absent.
  const insert = prepare(
    db,
    `insert into records (kind, id, stage, data, expires_at, keep_until) values (?, ?, ?, ?, ?, ?)
     on conflict (kind, id) do update set stage = excluded.stage, data = excluded.data,
       expires_at = excluded.expires_at, keep_until = excluded.keep_until
     where records.expires_at <= ?`,
  );
  const remove = prepare(db, "delete from records where kind = ? and id = ? returning expires_at");
  const ahead = prepare(
    db,
    "select kind, id from records where (kind, id) > (?, ?) order by kind, id limit 1 offset ?",
  );
  const sweep = prepare(
    db,
    "delete from records where (kind, id) > (?, ?) and (kind, id) <= (?, ?) and keep_until <= ?",
  );
  const sweepRest = prepare(db, "delete from records where (kind, id) > (?, ?) and keep_until <= ?");
  let swept: readonly [string, string] = ["", ""];
  // Names every column that was read, so it changes nothing in a row that is another one by now.
  const swap = prepare(
    db,
    `update records set stage = ?, data = ?, expires_at = ?, keep_until = ?
     where kind = ? and id = ? and stage = ? and data = ? and expires_at = ? and keep_until = ?`,
  );
  const seen = new LRUCache<string, Row>({ max: MOST_ROWS });
  const look = (key: RecordKey): Row | undefined => {
    const found = read.get(key.kind, key.id);
    if (found === undefined) return undefined;
    const [stage, data, expiresAt, keepUntil] = found as unknown as [string, string, number, number];
    const row = { stage, data, expiresAt, keepUntil };
    seen.set(recordName(key), row);
    return row;
  };

  return {
    /** The stored record, expired or not. */
    read: (key: RecordKey): StoredRecord | undefined => {
      const row = look(key);
      return row === undefined ? undefined : toRecord(key, row);
    },
    /** @param data of the record, as JSON @returns whether the record is now this one */
    insert: (record: NewRecord, data: string, now: number): boolean => {
      const { key, stage, expiresAt } = record;
      const keepUntil = keepUntilOf(record);
      const isNew = insert.run(key.kind, key.id, stage, data, expiresAt, keepUntil, now).changes === 1;
      if (isNew) seen.set(recordName(key), { stage, data, expiresAt, keepUntil });
      return isNew;
    },
    /**
     * One conditional write. The new text is made here, which costs less than SQLite's JSON
     * functions, and written over exactly the text it was made of: most advances find the row as
     * this process saw it last.
     *
     * @returns the record as it now stands; undefined when it does not match `from`, or is another
     *   one than this process saw last
     */
    advance: (key: RecordKey, from: From, patch: Patch, now: number): StoredRecord | undefined => {
      const name = recordName(key);
      const old = seen.get(name) ?? look(key);
      if (old === undefined || old.stage !== from.stage || old.expiresAt <= now) return undefined;
      const { data } = toRecord(key, old);
      if (!isAsExpected(data, from)) return undefined;
      const next = patchedData(data, patch);
      const row = {
        stage: patch.stage,
        data: JSON.stringify(next),
        expiresAt: patch.expiresAt ?? old.expiresAt,
        keepUntil: Math.max(old.keepUntil, patch.expiresAt ?? 0),
      };
      const values = [row.stage, row.data, row.expiresAt, row.keepUntil];
      //= bar#CB-3
      const { changes } = swap.run(...values, key.kind, key.id, old.stage, old.data, old.expiresAt, old.keepUntil);
      if (changes === 1) seen.set(name, row);
      else seen.delete(name);
      return changes === 1 ? { ...row, key: { kind: key.kind, id: key.id }, data: next } : undefined;
    },
    /** @returns `expiresAt` of the deleted record, if there was one */
    remove: (key: RecordKey): number | undefined => {
      seen.delete(recordName(key));
      return (remove.all(key.kind, key.id)[0] as unknown as [number] | undefined)?.[0];
    },
    /**
     * Reads the next `rows` rows in the order of their keys and deletes those past `keepUntil`.
     *
     * @returns whether it reached the end
     */
    sweep: (now: number, rows: number): boolean => {
      const upTo = ahead.get(...swept, rows - 1) as [string, string] | undefined;
      if (upTo === undefined) sweepRest.run(...swept, now);
      else sweep.run(...swept, ...upTo, now);
      swept = upTo ?? ["", ""];
      return upTo === undefined;
    },
    /**
     * A write that changes nothing and flushes everything written so far to the disk. Throws like
     * any other write.
     */
    flush: (): void => {
      db.exec("pragma synchronous = full");
      try {
        // Rewriting this constant is the smallest commit there is, and a commit flushes all earlier
        // ones to the disk with it.
        db.exec(`pragma application_id = ${APPLICATION_ID}`);
      } finally {
        db.exec(`pragma synchronous = ${durability}`);
      }
    },
  };
}

function prepare(db: DatabaseSync, sql: string): StatementSync {
  const statement = db.prepare(sql);
  statement.setReturnArrays(true);
  return statement;
}

function toRecord({ kind, id }: RecordKey, { stage, data, expiresAt, keepUntil }: Row): StoredRecord {
  return { key: { kind, id }, stage, data: objectFromJson(data, `a ${kind} record`), expiresAt, keepUntil };
}
