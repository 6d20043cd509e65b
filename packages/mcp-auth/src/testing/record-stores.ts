/** Every kind of record store a server can use, so that stored data is tested on all of them. */
import { patience } from "@oauth-broker/oauth-core/testing";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock, JsonObject, RecordKey, RecordStore, StoredRecord } from "@oauth-broker/oauth-core";
import { startDynamoDb } from "@oauth-broker/simulators/aws";
import { memoryRecordStore } from "@oauth-broker/token-store/memory";
import { dynamodbRecordStore } from "@oauth-broker/token-store/dynamodb";
import { sqliteRecordStore } from "@oauth-broker/token-store/sqlite";

export interface RecordStores {
  /** An empty store. */
  fresh(now: Clock): Promise<RecordStore>;
  /** The latest fresh store as another process has it open; in memory it is the same object. */
  again(now: Clock): RecordStore;
  close(): Promise<void>;
}

/** Reports each row, and each change of one, before it is written. */
export function watchWrites(store: RecordStore, onWrite: (key: RecordKey, data: JsonObject) => void): RecordStore {
  return {
    ...store,
    create: (record) => {
      onWrite(record.key, record.data);
      return store.create(record);
    },
    advance: (key, from, patch) => {
      onWrite(key, patch.set);
      return store.advance(key, from, patch);
    },
  };
}

/**
 * Overwrites a row as any writer of the table can: no MAC is made, every field stays unless it is
 * named.
 */
export async function overwriteRow(
  table: RecordStore,
  key: RecordKey,
  change: (data: JsonObject) => JsonObject,
  to: { readonly key?: RecordKey; readonly stage?: string; readonly expiresAt?: number } = {},
): Promise<void> {
  const row = await rowOf(table, key);
  await putBack(table, { ...row, data: change(row.data), ...to });
}

/** @throws Error if the table has no row of this key */
export async function rowOf(table: RecordStore, key: RecordKey): Promise<StoredRecord> {
  return (await table.get(key)) ?? Promise.reject(new Error("there is no row"));
}

/** Instead of the present row, if there is one. */
export async function putBack(table: RecordStore, { key, stage, data, expiresAt }: StoredRecord): Promise<void> {
  await table.delete(key);
  await table.create({ key, stage, data, expiresAt });
}

export const RECORD_STORES: Readonly<Record<string, () => Promise<RecordStores>>> = {
  memory: async () => {
    let store: RecordStore;
    return {
      fresh: async (now) => (store = memoryRecordStore({ now })),
      again: () => store,
      close: async () => undefined,
    };
  },
  sqlite: async () => {
    const folder = mkdtempSync(join(tmpdir(), "records-"));
    let files = 0;
    return reopened({
      prepare: async () => void (files += 1),
      open: (now) => sqliteRecordStore({ path: join(folder, `${files}.sqlite`), now }),
      end: async () => rmSync(folder, { recursive: true }),
    });
  },
  dynamodb: async () => {
    const engine = await startDynamoDb();
    const { region, endpoint } = engine;
    let table = "";
    return reopened({
      prepare: async () => void (table = await engine.createTable()),
      open: (now) => dynamodbRecordStore({ table, region, endpoint, now, deadlineMs: patience(3_000) }),
      end: () => engine.close(),
    });
  },
};

/** Stores outside the process: each time another is opened on what `prepare` made. */
function reopened(of: { prepare(): Promise<void>; open(now: Clock): RecordStore; end(): Promise<void> }): RecordStores {
  const opened: RecordStore[] = [];
  const again = (now: Clock): RecordStore => {
    const store = of.open(now);
    opened.push(store);
    return store;
  };
  return {
    fresh: async (now) => {
      await of.prepare();
      return again(now);
    },
    again,
    close: async () => {
      await Promise.all(opened.map((store) => store.close()));
      await of.end();
    },
  };
}
