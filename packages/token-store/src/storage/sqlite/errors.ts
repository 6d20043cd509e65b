/** What SQLite's errors mean to the operator, who reads what to repair. Translated here, once. */
import type { OAuthError } from "@oauth-broker/oauth-core";
import { storeUnavailable } from "../../errors.ts";

const DAMAGED = "is damaged, or is no database: restore it from a backup, with the key file of that backup";

/** By the kind of the error. Each ends without a restart, at the first call after the repair. */
const ADVICE: ReadonlyMap<number | undefined, string> = new Map([
  [5, "is locked by another process: look for a backup or a tool that has it open"],
  [8, "cannot be written: give this process the right to, or mount its disk for writing"],
  [10, "cannot be read or written: look at its disk, which may be full"],
  [11, DAMAGED],
  [13, "does not fit: its disk is full, make room"],
  [14, "cannot be opened: it must be a file that this process may read, in a folder where it may make files"],
  [26, DAMAGED],
]);

/** @param file its path */
export function fromSqliteError(error: unknown, file: string): OAuthError {
  const kind = kindOf(error);
  if (!(error instanceof Error) || kind === undefined) return storeUnavailable(error);
  return storeUnavailable(error, `${file} ${ADVICE.get(kind) ?? `cannot be used: ${error.message}`}`);
}

/** SQLITE_BUSY in any variant. */
export function isBusy(error: unknown): boolean {
  return kindOf(error) === 5;
}

/** The low byte of SQLite's code; undefined for an error of anything else. */
function kindOf(error: unknown): number | undefined {
  return error instanceof Error && "errcode" in error ? Number(error.errcode) % 256 : undefined;
}
