/**
 * The SQLite file: creates it when it is missing, recognises it when it exists, refuses what
 * another program or a newer release wrote, and erases what deleting leaves behind. Several
 * processes may do this to one file at the same moment.
 */
import { closeSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { makeFolder } from "@oauth-broker/oauth-core";
import { TokenStoreError } from "../../errors.ts";

/** The engine's `synchronous` while it writes a log: `full` waits for the disk at every commit. */
export type Durability = "normal" | "full";

/**
 * In `pragma user_version`. A release reads its own format and every older one, never a newer one.
 */
const FORMAT = 1;
/** In `pragma application_id`: "OAuR", so that a file given by mistake is not written to. */
export const APPLICATION_ID = 0x4f417552;
/** The engine waits by blocking this whole process, so it must not: lock-queue.ts waits for it. */
const BUSY_TIMEOUT_MS = 0;

/**
 * A log of 16 MiB between checkpoints and as much cache: each costs a tenth of the processor time
 * per operation. Deleted or replaced data is zeroed in the file: rows of mode `bridge` hold tokens.
 */
const SETTINGS = "pragma wal_autocheckpoint = 4000; pragma cache_size = -16384; pragma secure_delete = on;";

/**
 * No index on keep_until: it would cost every create a second page, and every deletion a separate
 * page.
 */
const SCHEMA = `
  create table records (
    kind text not null,
    id text not null,
    stage text not null,
    data text not null,
    expires_at integer not null,
    keep_until integer not null,
    primary key (kind, id)
  ) strict, without rowid;
  pragma application_id = ${APPLICATION_ID};
  pragma user_version = ${FORMAT};
`;

/**
 * @param path absolute
 * @throws TokenStoreError store_foreign, format_unknown; the engine's and the file system's own
 *   errors
 */
export function openDatabase(path: string, durability: Durability): DatabaseSync {
  makeFolder(dirname(path), { mode: 0o700 });
  makePrivateFile(path);
  const db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    // Another process may be creating the schema at the same time.
    if (!isOurs(db, path)) inTransaction(db, () => isOurs(db, path) || db.exec(SCHEMA));
    const mode = db.prepare("pragma journal_mode = wal").get()?.["journal_mode"];
    if (mode !== "wal") throw new Error(`this file system allows no write-ahead log (journal mode ${String(mode)})`);
    // The last is a read, which makes the log.
    db.exec(`${SETTINGS} pragma synchronous = ${durability}; pragma user_version`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/**
 * The engine would make the file readable by all; its log and index files take their mode from it.
 */
function makePrivateFile(path: string): void {
  try {
    // Only for a new file: closing a second handle of an open one would drop this process's locks
    // on it.
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** Under the write lock, which is held from its start. */
export function inTransaction<T>(db: DatabaseSync, operation: () => T): T {
  db.exec("begin immediate");
  try {
    const result = operation();
    db.exec("commit");
    return result;
  } catch (error) {
    if (db.isTransaction) db.exec("rollback");
    throw error;
  }
}

/**
 * @returns false for an empty file, which may become ours
 * @throws TokenStoreError for any other file that is not ours
 */
function isOurs(db: DatabaseSync, path: string): boolean {
  const number = (sql: string): number => Number(Object.values(db.prepare(sql).get() ?? {})[0]);
  const format = number("pragma user_version");
  const application = number("pragma application_id");
  if (application === APPLICATION_ID) {
    if (format === FORMAT) return true;
    throw new TokenStoreError("format_unknown", {
      detail: `${path} has format ${format}, this release knows ${FORMAT}; a newer release wrote it`,
    });
  }
  // Outside the write lock another process may have finished between the reads.
  if (db.isTransaction && (application !== 0 || format !== 0 || number("select count(*) from sqlite_schema") !== 0)) {
    throw new TokenStoreError("store_foreign", { detail: path });
  }
  return false;
}

/**
 * Rewrites the whole file, without its free space: first into the log. Other writers wait
 * in the meantime. `secure_delete` zeroes what is deleted from now on; this and `emptyLog`, in this
 * order, remove what an earlier release left in the free space, and in the log, which keeps old
 * pages until they are overwritten.
 */
export function rewriteFile(db: DatabaseSync): void {
  db.exec("vacuum");
}

/**
 * Moves the log into the file and truncates it to nothing.
 *
 * @returns false while another connection reads from the log
 */
export function emptyLog(db: DatabaseSync): boolean {
  return db.prepare("pragma wal_checkpoint(truncate)").get()?.["busy"] === 0;
}
