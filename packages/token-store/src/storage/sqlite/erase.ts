/**
 * What deleting leaves behind in a SQLite file. `secure_delete` (open.ts) zeroes what is deleted from now on; these two
 * take away what an earlier release left: in the free space of the file, and in the log, which keeps old pages until they
 * are written over. token-rows.ts calls both, in this order.
 */
import type { DatabaseSync } from "node:sqlite";

/** Writes the whole file anew, without its free space: first into the log. Other writers wait meanwhile. */
export function rewriteFile(db: DatabaseSync): void {
  db.exec("vacuum");
}

/** Brings the log into the file and cuts it to nothing. @returns false while another connection reads from the log */
export function emptyLog(db: DatabaseSync): boolean {
  return db.prepare("pragma wal_checkpoint(truncate)").get()?.["busy"] === 0;
}
