/**
 * A RecordStore in one SQLite file, shared by any number of processes on one machine: the store of the sandbox, of a
 * single-machine broker and of local work on a server. Imported from its own entry, so node:sqlite loads only when chosen.
 *
 * Durability, named: write-ahead log with `synchronous = normal`. A killed process loses nothing. A power loss or a
 * crash of the operating system may undo the last transactions of records that live SHORT_LIFE_SECONDS or less;
 * the file stays consistent. Longer-lived records (a keyset, refresh families) are on the disk before a call returns.
 * docs/decisions/0003-sqlite-durability.md says why that is enough for single-use objects.
 */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type { Clock, EpochSeconds, RecordStore } from "@oauth-broker/oauth-core";
import { createSweeper } from "./housekeeping.ts";
import { createLockQueue } from "./lock-queue.ts";
import { isAsExpected, requireAdvance, requireNewRecord, toJson } from "./record-rules.ts";
import { openDatabase } from "./sqlite-open.ts";
import type { Durability } from "./sqlite-open.ts";
import { prepareStatements } from "./sqlite-statements.ts";
import type { Statements } from "./sqlite-statements.ts";
import { storeUnavailable } from "./unavailable.ts";

/** A record with more life than this left is worth waiting for the disk. */
const SHORT_LIFE_SECONDS = 900;
/** Each sweep; 64 writes come before it, so the table is passed four times as fast as it can grow. */
const SWEEP_ROWS = 256;

export interface SqliteRecordStoreOptions {
  /** The file; its folder is made when missing. */
  readonly path: string;
  /** Decides expiry and what housekeeping may delete. */
  readonly now: Clock;
  /** `full` waits for the disk in every write, not only where a record lives long. Default `normal`. */
  readonly durability?: Durability;
}

/**
 * Opens nothing yet: the first call does, and every call tries again while it does not work. So a missing disk makes
 * calls fail with `temporarily_unavailable`, not the start of the process.
 */
export function sqliteRecordStore({ path, now, durability = "normal" }: SqliteRecordStoreOptions): RecordStore {
  const file = resolve(path);
  let engine: { readonly db: DatabaseSync; readonly statements: Statements; readonly inode: bigint } | undefined;
  let closed = false;

  const opened = (): Statements => {
    if (closed) throw new Error("the store was closed");
    if (engine === undefined) {
      const db = openDatabase(file, durability);
      engine = { db, statements: prepareStatements(db, durability), inode: inodeOf(file) };
      sweeper.start();
    }
    return engine.statements;
  };
  const drop = (): void => {
    const { db } = engine ?? {};
    engine = undefined;
    sweeper.stop();
    try {
      if (db?.isOpen === true) db.close();
    } catch {
      // What made us let go of it is the error to tell; this one only says that it is still so.
    }
  };
  const sweeper = createSweeper(() => engine?.statements.sweep(now(), SWEEP_ROWS) ?? true);

  const queue = createLockQueue({ isBusy, refusal: storeUnavailable });
  const use = <T>(operation: (statements: Statements) => T): T => {
    try {
      return operation(opened());
    } catch (error) {
      if (isBusy(error)) throw error; // the queue's business
      drop(); // the next call opens the file anew, which is what a repaired disk needs
      throw storeUnavailable(error);
    }
  };
  const read = <T>(operation: (statements: Statements) => T): T | Promise<T> => {
    const attempt = (): T => use(operation);
    // Readers of the log need no lock. Opening the file may.
    return engine === undefined ? queue.run(attempt) : queue.runAhead(attempt);
  };
  const write = <T>(operation: (statements: Statements) => T, deadline?: number): T | Promise<T> =>
    queue.run(() => use(operation), deadline);
  /** Apart from the write itself: repeated with it, a write would meet its own first try and call it a replay. */
  const settle = async (expiresAt: EpochSeconds, deadline: number): Promise<void> => {
    sweeper.wrote();
    if (durability === "full" || expiresAt - now() <= SHORT_LIFE_SECONDS) return;
    await write((statements) => {
      statements.touch("full");
    }, deadline);
  };

  return {
    get: async (key, options) => {
      const record = await read((statements) => statements.read(key));
      if (record === undefined || options?.includeExpired === true) return record;
      return record.expiresAt > now() ? record : undefined;
    },
    create: async (record) => {
      requireNewRecord(record);
      const data = toJson(record.data);
      const deadline = queue.deadline();
      if (!(await write((statements) => statements.insert(record, data, now()), deadline))) return "exists";
      await settle(record.expiresAt, deadline);
      return "created";
    },
    advance: async (key, from, patch) => {
      requireAdvance(from, patch);
      const deadline = queue.deadline();
      const advanced = await write((statements) => {
        // The read comes after the write, so the record may have come back into `from` meanwhile (a lease given up):
        // then neither answer would be true, and the write is tried again.
        for (let tries = 0; tries < 5; tries += 1) {
          const at = now();
          const moved = statements.advance(key, from, patch, at);
          if (moved !== undefined) return { outcome: "moved", record: moved } as const;
          const record = statements.read(key);
          if (record === undefined || record.expiresAt <= at) return { outcome: "absent" } as const;
          if (!isAsExpected(record.data, from)) return { outcome: "absent" } as const;
          //= bar#CB-3
          if (record.stage !== from.stage) return { outcome: "replayed", record } as const;
        }
        throw new Error("the record kept changing");
      }, deadline);
      if (advanced.outcome === "moved") await settle(advanced.record.expiresAt, deadline);
      return advanced;
    },
    delete: async (key) => {
      const deadline = queue.deadline();
      const expiresAt = await write((statements) => statements.remove(key), deadline);
      if (expiresAt !== undefined) await settle(expiresAt, deadline);
    },
    ping: async () => {
      await write((statements) => {
        // A file that was deleted or replaced goes on working for who has it open, and for nobody else.
        if (inodeOf(file) !== engine?.inode) throw new Error("the file is not the one that was opened");
        // A read works in a store that is locked, full or read-only, where every flow fails.
        statements.touch("normal");
      });
    },
    close: async () => {
      closed = true;
      drop();
    },
  };
}

function inodeOf(path: string): bigint {
  return statSync(path, { bigint: true }).ino;
}

/** SQLITE_BUSY in any of its spellings: the low byte of the code is the kind. */
function isBusy(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && Number(error.errcode) % 256 === 5;
}
