/**
 * What a SQLite file holds: records and token rows. Its own entry, so that node:sqlite loads only when
 * chosen.
 */
export { sqliteRecordStore } from "./record-store.ts";
export type { SqliteRecordStoreOptions } from "./record-store.ts";
export { sqliteTokenRows } from "./token-rows.ts";
