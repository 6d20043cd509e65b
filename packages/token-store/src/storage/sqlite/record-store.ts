/**
 * A RecordStore in one SQLite file, shared by any number of processes on one machine: the store of
 * the sandbox, of a single-machine broker and of local work on a server. Imported from its own
 * entry, so node:sqlite loads only when chosen.
 *
 * Durability, named: write-ahead log with `synchronous = normal`. A killed process loses nothing. A
 * power loss or a crash of the operating system may undo the last transactions of records that live
 * SHORT_LIFE_SECONDS or less; the file stays consistent. Longer-lived records (a keyset, refresh
 * families) are on the disk before a call returns. docs/decisions/0003-sqlite-and-power-loss.md says
 * why that is enough for single-use objects.
 */
import type { Clock, EpochSeconds, RecordStore } from "@oauth-broker/oauth-core";
import { createSweeper } from "./housekeeping.ts";
import { isAsExpected, requireAdvance, requireNewRecord, toJson } from "../record-rules.ts";
import { createSqliteEngine, type SqliteEngine } from "./engine.ts";
import type { Durability } from "./file.ts";
import { prepareStatements, type Statements } from "./statements.ts";

/** A record with more remaining lifetime than this is worth waiting for the disk. */
const SHORT_LIFE_SECONDS = 900;
/**
 * Each sweep; 64 writes come before it, so the table is swept four times as fast as it can grow.
 */
const SWEEP_ROWS = 256;

/** Which file, and how durable its writes are. */
export interface SqliteRecordStoreOptions {
  /** The file; its folder is made when missing. */
  readonly path: string;
  /** Decides expiry and what housekeeping may delete. */
  readonly now: Clock;
  /**
   * `full` waits for the disk in every write, not only if a record lives long. Default `normal`.
   */
  readonly durability?: Durability;
}

/**
 * Opens nothing yet: the first call does, and every call tries again while that fails. So a missing
 * disk makes calls fail with `temporarily_unavailable`, not the start of the process.
 */
export function sqliteRecordStore({ path, now, durability = "normal" }: SqliteRecordStoreOptions): RecordStore {
  const sweeper = createSweeper(() => engine.current()?.sweep(now(), SWEEP_ROWS) ?? true);
  const { start: onOpen, stop: onClose } = sweeper;
  const engine: SqliteEngine<Statements> = createSqliteEngine({ path, durability, onOpen, onClose }, (db) =>
    prepareStatements(db, durability),
  );
  const { read, write, writeTogether } = engine;
  /**
   * Separate from the write itself: repeated with it, a write would find its own first attempt and
   * report a replay.
   */
  const settle = async (expiresAt: EpochSeconds, deadline: number): Promise<void> => {
    sweeper.wrote();
    if (durability === "full" || expiresAt - now() <= SHORT_LIFE_SECONDS) return;
    await write(({ flush }) => flush(), deadline);
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
      const deadline = engine.deadline();
      if (!(await writeTogether((statements) => statements.insert(record, data, now()), deadline))) return "exists";
      await settle(record.expiresAt, deadline);
      return "created";
    },
    advance: async (key, from, patch) => {
      requireAdvance(from, patch);
      const deadline = engine.deadline();
      const advanced = await writeTogether((statements) => {
        // The read comes after the write, so the record may have returned to `from` in the meantime
        // (a lease given back): then neither result would be true, and the write is tried again.
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
      const deadline = engine.deadline();
      const expiresAt = await write((statements) => statements.remove(key), deadline);
      if (expiresAt !== undefined) await settle(expiresAt, deadline);
    },
    ping: engine.ping,
    close: async () => engine.close(),
  };
}
