/**
 * One connection to the SQLite file, opened when first needed and dropped when the disk fails; its
 * calls queue in lock-queue.ts. Used by record-store.ts and token-rows.ts.
 */
import { realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { OAuthError } from "@oauth-broker/oauth-core";
import { createLockQueue } from "./lock-queue.ts";
import { APPLICATION_ID, type Durability, inTransaction, openDatabase } from "./file.ts";
import { storeUnavailable } from "../../errors.ts";
import { fromSqliteError, isBusy } from "./errors.ts";

/** All methods throw OAuthError `temporarily_unavailable` when the engine does not respond. */
export type SqliteEngine<Statements> = ReturnType<typeof createSqliteEngine<Statements>>;

/**
 * @param options.onOpen, options.onClose for what lives as long as the connection
 * @param prepare creates what is missing in the file and prepares the statements; runs at each
 *   opening
 */
export function createSqliteEngine<Statements>(
  options: {
    readonly path: string;
    readonly durability: Durability;
    readonly onOpen?: () => void;
    readonly onClose?: () => void;
  },
  prepare: (db: DatabaseSync) => Statements,
) {
  const file = resolve(options.path);
  let engine: { readonly db: DatabaseSync; readonly statements: Statements; readonly inodes: string } | undefined;
  let closed = false;

  const opened = (): NonNullable<typeof engine> => {
    if (closed) throw new Error("the store was closed");
    if (engine !== undefined) return engine;
    const db = openDatabase(file, options.durability);
    try {
      engine = { db, statements: prepare(db), inodes: inodesOf(file) };
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
      // The error that closed the connection is the one to report; this one only repeats it.
    }
  };
  const use = <T>(operation: (engine: NonNullable<ReturnType<typeof opened>>) => T): T => {
    try {
      return operation(opened());
    } catch (error) {
      // The queue's business; and one row that cannot be read, beside which others can.
      if (isBusy(error) || error instanceof OAuthError) throw error;
      drop(); // the next call opens the file again, which is what a repaired disk needs
      throw fromSqliteError(error, file);
    }
  };

  type Operation = (statements: Statements) => unknown;
  const attemptAll = (operations: readonly Operation[]): readonly PromiseSettledResult<unknown>[] =>
    use(({ db, statements }) => {
      const [only] = operations;
      // A statement is a transaction by itself.
      if (only !== undefined && operations.length === 1) return [{ status: "fulfilled", value: only(statements) }];
      return inTransaction(db, () => operations.map((operation) => settled(db, () => operation(statements))));
    });
  const queue = createLockQueue({ isBusy, refusal: (busy) => fromSqliteError(busy, file), attemptAll });

  return {
    /** Needs no lock once the file is open, so it does not wait for writers. */
    read: <T>(operation: (statements: Statements) => T): T | Promise<T> => {
      const attempt = () => use(({ statements }) => operation(statements));
      // Readers of the log need no lock. Opening the file may.
      return engine === undefined ? queue.run(attempt) : queue.runAhead(attempt);
    },
    /**
     * One statement, repeated while another process holds the lock.
     *
     * @param deadline of `deadline()`, for several statements as one call
     */
    write: <T>(operation: (statements: Statements) => T, deadline?: number): T | Promise<T> =>
      queue.run(() => use(({ statements }) => operation(statements)), deadline),
    /**
     * One or several statements that share a transaction with the writes beside it, as a commit
     * costs more than the statements in it. One that throws takes none of the others with it, unless
     * SQLite ended the transaction.
     *
     * @param deadline of `deadline()`
     * @returns its result, once it is committed
     */
    writeTogether: <T>(operation: (statements: Statements) => T, deadline: number) =>
      queue.runTogether(operation, deadline) as Promise<T>,
    /** When a call that begins now is refused. */
    deadline: queue.deadline,
    /**
     * One transaction, begun with the write lock and repeated from its start while another process
     * holds that.
     */
    transact: async <T>(operation: (statements: Statements) => T): Promise<T> =>
      queue.run(() => use(({ db, statements }) => inTransaction(db, () => operation(statements)))),
    /** Proves that the file is still the one that was opened, and that it can be written. */
    ping: async (): Promise<void> =>
      queue.run(() =>
        use(({ db, inodes }) => {
          // A deleted or replaced file, or log, keeps working for the processes that have it open,
          // and for no other.
          if (inodesOf(file) !== inodes) throw new Error("the file is not the one that was opened");
          // The smallest commit there is: a read succeeds on a store that is locked, full or
          // read-only, where every flow fails.
          db.exec(`pragma application_id = ${APPLICATION_ID}`);
        }),
      ),
    /** The open connection's statements; undefined when it is closed. Opens nothing. */
    current: (): Statements | undefined => engine?.statements,
    close: (): void => {
      closed = true;
      drop();
    },
  };
}

/** One statement that fails is undone alone, unless SQLite has rolled everything back (a full disk). */
function settled(db: DatabaseSync, operation: () => unknown): PromiseSettledResult<unknown> {
  try {
    return { status: "fulfilled", value: operation() };
  } catch (error) {
    if (isBusy(error) || !db.isTransaction) throw error;
    return { status: "rejected", reason: error instanceof OAuthError ? error : storeUnavailable(error) };
  }
}

/**
 * The inodes of the file and of its log, which is there from the first statement to the last close,
 * beside the file that a link leads to.
 */
function inodesOf(path: string): string {
  const real = realpathSync(path);
  return [real, `${real}-wal`].map((file) => statSync(file, { bigint: true }).ino).join();
}
