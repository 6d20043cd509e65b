/**
 * One connection to the SQLite file, opened when it is first needed and let go of when the disk fails, with the calls over it
 * standing in lock-queue.ts. Under record-store.ts and token-rows.ts.
 */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { createLockQueue } from "./lock-queue.ts";
import { APPLICATION_ID, type Durability, openDatabase } from "./file.ts";
import { storeUnavailable } from "../../errors.ts";

/** All throw OAuthError `temporarily_unavailable` when the engine does not answer. */
export interface SqliteEngine<Statements> {
  /** Needs no lock once the file is open, so it does not wait for writers. */
  read<T>(operation: (statements: Statements) => T): T | Promise<T>;
  /** One statement, run again while another process holds the lock. @param deadline of `deadline()`, for several as one */
  write<T>(operation: (statements: Statements) => T, deadline?: number): T | Promise<T>;
  /** When a call that begins now is given up. */
  deadline(): number;
  /** One transaction, begun with the write lock and run again from its start while another process holds that. */
  transact<T>(operation: (statements: Statements) => T): Promise<T>;
  /** For what cannot run in a transaction; again while another process holds the lock. */
  maintain<T>(operation: (db: DatabaseSync) => T): Promise<T>;
  /** Proves that the file is still the one that was opened, and that it can be written. */
  ping(): Promise<void>;
  /** What is open; undefined where nothing is. Opens nothing. */
  current(): Statements | undefined;
  close(): void;
}

/**
 * @param options.onOpen, options.onClose what lives as long as the connection does
 * @param prepare makes what is missing in the file and prepares the statements; runs at each opening
 */
export function createSqliteEngine<Statements>(
  options: {
    readonly path: string;
    readonly durability: Durability;
    readonly onOpen?: () => void;
    readonly onClose?: () => void;
  },
  prepare: (db: DatabaseSync) => Statements,
): SqliteEngine<Statements> {
  const file = resolve(options.path);
  let engine: { readonly db: DatabaseSync; readonly statements: Statements; readonly inode: bigint } | undefined;
  let closed = false;

  const opened = (): NonNullable<typeof engine> => {
    if (closed) throw new Error("the store was closed");
    if (engine !== undefined) return engine;
    const db = openDatabase(file, options.durability);
    try {
      engine = { db, statements: prepare(db), inode: inodeOf(file) };
      options.onOpen?.();
      return engine;
    } catch (error) {
      db.close();
      throw error;
    }
  };
  const drop = (): void => {
    const { db } = engine ?? {};
    engine = undefined;
    options.onClose?.();
    try {
      if (db?.isOpen === true) db.close();
    } catch {
      // What made us let go of it is the error to tell; this one only says that it is still so.
    }
  };
  const queue = createLockQueue({ isBusy, refusal: storeUnavailable });
  const use = <T>(operation: (engine: NonNullable<ReturnType<typeof opened>>) => T): T => {
    try {
      return operation(opened());
    } catch (error) {
      if (isBusy(error)) throw error; // the queue's business
      drop(); // the next call opens the file anew, which is what a repaired disk needs
      throw storeUnavailable(error);
    }
  };

  return {
    read: (operation) => {
      const attempt = () => use(({ statements }) => operation(statements));
      // Readers of the log need no lock. Opening the file may.
      return engine === undefined ? queue.run(attempt) : queue.runAhead(attempt);
    },
    write: (operation, deadline) => queue.run(() => use(({ statements }) => operation(statements)), deadline),
    deadline: queue.deadline,
    transact: async (operation) =>
      queue.run(() => use(({ db, statements }) => inTransaction(db, () => operation(statements)))),
    maintain: async (operation) => queue.run(() => use(({ db }) => operation(db))),
    ping: async () =>
      queue.run(() =>
        use(({ db, inode }) => {
          // A file that was deleted or replaced goes on working for who has it open, and for nobody else.
          if (inodeOf(file) !== inode) throw new Error("the file is not the one that was opened");
          // The smallest commit there is: a read works in a store that is locked, full or read-only, where every flow fails.
          db.exec(`pragma application_id = ${APPLICATION_ID}`);
        }),
      ),
    current: () => engine?.statements,
    close: () => {
      closed = true;
      drop();
    },
  };
}

function inTransaction<T>(db: DatabaseSync, operation: () => T): T {
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

function inodeOf(path: string): bigint {
  return statSync(path, { bigint: true }).ino;
}

/** SQLITE_BUSY in any of its spellings: the low byte of the code is the kind. */
function isBusy(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && Number(error.errcode) % 256 === 5;
}
