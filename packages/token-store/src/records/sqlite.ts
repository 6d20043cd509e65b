/**
 * A RecordStore in one SQLite file, shared by any number of processes on one machine: the store of the sandbox, of a
 * single-machine broker and of local work on a server. Imported from its own entry, so node:sqlite loads only when chosen.
 *
 * Durability, named: write-ahead log with `synchronous = normal`. A killed process loses nothing. A power loss or a
 * crash of the operating system may undo the last transactions of records that live SHORT_LIFE_SECONDS or less;
 * the file stays consistent. Longer-lived records (a keyset, refresh families) are on the disk before a call returns.
 * docs/decisions/0003-sqlite-durability.md says why that is enough for single-use objects.
 */
import { resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import { OAuthError } from "@oauth-broker/oauth-core";
import type { Clock, EpochSeconds, From, RecordStore, StoredRecord } from "@oauth-broker/oauth-core";
import { createSweeper } from "./housekeeping.ts";
import { requireAdvance, requireNewRecord, toJson } from "./record-rules.ts";
import { openDatabase } from "./sqlite-open.ts";
import { prepareStatements } from "./sqlite-statements.ts";
import type { Statements } from "./sqlite-statements.ts";

/** A record with more life than this left is worth waiting for the disk. */
const SHORT_LIFE_SECONDS = 900;
/** Between two tries while another process holds the file: about a second and a half in all, the event loop free meanwhile. */
const BUSY_WAITS_MS = [1, 2, 4, 8, 16, 32, 64, 128, 250, 500, 500];
/** Each sweep; 64 writes come before it, so the table is passed four times as fast as it can grow. */
const SWEEP_ROWS = 256;

export interface SqliteRecordStoreOptions {
  /** The file; its folder is made when missing. */
  readonly path: string;
  /** Decides expiry and what housekeeping may delete. */
  readonly now: Clock;
}

/**
 * Opens nothing yet: the first call does, and every call tries again while it does not work. So a missing disk makes
 * calls fail with `temporarily_unavailable`, not the start of the process.
 */
export function sqliteRecordStore({ path, now }: SqliteRecordStoreOptions): RecordStore {
  const file = resolve(path);
  let engine: { readonly db: DatabaseSync; readonly statements: Statements } | undefined;
  let closed = false;

  const opened = (): Statements => {
    if (closed) throw new Error("the store was closed");
    if (engine === undefined) {
      const db = openDatabase(file);
      engine = { db, statements: prepareStatements(db) };
      sweeper.start();
    }
    return engine.statements;
  };
  const drop = (): void => {
    const { db } = engine ?? {};
    engine = undefined;
    if (db?.isOpen === true) db.close();
  };
  const sweeper = createSweeper(() => engine?.statements.sweep(now(), SWEEP_ROWS) ?? true);

  const run = async <T>(operation: (statements: Statements) => T): Promise<T> => {
    for (let tries = 0; ; tries += 1) {
      try {
        return operation(opened());
      } catch (error) {
        const pause = BUSY_WAITS_MS[tries];
        if (!isBusy(error)) drop(); // the next call opens the file anew, which is what a repaired disk needs
        if (!isBusy(error) || pause === undefined) throw unavailable(error);
        await wait(pause);
      }
    }
  };
  /** A write is never repeated because the disk was slow to confirm it: it would find itself and call it a replay. */
  const settle = async (expiresAt: EpochSeconds): Promise<void> => {
    sweeper.wrote();
    if (expiresAt - now() > SHORT_LIFE_SECONDS) await run((statements) => statements.sync());
  };

  return {
    get: async (key, options) => {
      const record = await run((statements) => statements.read(key));
      if (record === undefined || options?.includeExpired === true) return record;
      return record.expiresAt > now() ? record : undefined;
    },
    create: async (record) => {
      requireNewRecord(record);
      if (!(await run((statements) => statements.insert(record, now())))) return "exists";
      await settle(record.expiresAt);
      return "created";
    },
    advance: async (key, from, patch) => {
      requireAdvance(from, patch);
      Object.values(patch.set).forEach(toJson);
      const advanced = await run((statements) => {
        // The read comes after the write, so the record may have come back into `from` meanwhile (a lease given up):
        // then neither answer would be true, and the write is tried again.
        for (let tries = 0; tries < 5; tries += 1) {
          const at = now();
          const moved = statements.advance(key, from, patch, at);
          if (moved !== undefined) return { outcome: "moved", record: moved } as const;
          const record = statements.read(key);
          if (record === undefined || record.expiresAt <= at || !matches(record, from))
            return { outcome: "absent" } as const;
          if (record.stage !== from.stage) return { outcome: "replayed", record } as const;
        }
        throw new Error("the record kept changing");
      });
      if (advanced.outcome === "moved") await settle(advanced.record.expiresAt);
      return advanced;
    },
    delete: async (key) => {
      const expiresAt = await run((statements) => statements.remove(key));
      if (expiresAt !== undefined) await settle(expiresAt);
    },
    ping: async () => {
      await run((statements) => statements.read({ kind: "", id: "" }));
    },
    close: async () => {
      closed = true;
      sweeper.stop();
      drop();
    },
  };
}

function matches(record: StoredRecord, from: From): boolean {
  return Object.entries(from.expect).every(
    ([name, value]) => Object.hasOwn(record.data, name) && record.data[name] === value,
  );
}

/** SQLITE_BUSY in any of its spellings: the low byte of the code is the kind. */
function isBusy(error: unknown): boolean {
  return ((error as { errcode?: number } | undefined)?.errcode ?? 0) % 256 === 5;
}

function unavailable(cause: unknown): OAuthError {
  const detail = cause instanceof Error ? cause.message : "unknown";
  return new OAuthError("temporarily_unavailable", "The record store does not answer", { cause, detail });
}
