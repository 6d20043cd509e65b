/**
 * Records and token rows in a SQLite file. Its own entry, so that node:sqlite loads only when
 * chosen.
 */
export { sqliteRecordStore } from "./record-store.ts";
export type { SqliteRecordStoreOptions } from "./record-store.ts";
export { sqliteTokenRows } from "./token-rows.ts";
