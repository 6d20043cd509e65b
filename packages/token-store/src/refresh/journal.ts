/**
 * Commits that could not be written yet, one file each, so that the response of a vendor that
 * rotates survives the process that received it. The content of a file is already sealed; the
 * plaintext copy of mode `bridge` is left out.
 */
import { readdir, readFile, rename, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { makeFolder } from "@oauth-broker/oauth-core";
import { requireChange, requireRowKey } from "../storage/row-rules.ts";
import { writeWhole } from "../storage/write-whole.ts";
import type { SealedChange } from "../tokens/token-records.ts";

const FORMAT = 1;
const NAME = /^([\w-]{16,64})\.json$/;

export interface JournalEntry {
  readonly attemptId: string;
  readonly change: SealedChange;
}

export interface JournalEvent {
  /**
   * `journal_failed`: the file could not be written. `journal_unreadable`: a file was left alone.
   * Neither holds a secret.
   */
  readonly name: "journal_failed" | "journal_unreadable";
  /** The file's or the folder's path. */
  readonly path: string;
}

export type Journal = ReturnType<typeof createJournal>;

/** @param folder created when first needed, accessible to this user alone */
export function createJournal(folder: string, onEvent: (event: JournalEvent) => void) {
  const path = resolve(folder);
  /**
   * @returns undefined when the file is missing, or is not an entry: its response is lost
   * @throws Error when the file exists and cannot be read; both are reported
   */
  const find = async (attemptId: string): Promise<JournalEntry | undefined> => {
    const name = `${attemptId}.json`;
    // The id may come from a row.
    //= bar#TS-3
    if (!NAME.test(name)) return undefined;
    const file = join(path, name);
    const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
      // Never written, or settled by another process on this folder.
      if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
      onEvent({ name: "journal_unreadable", path: file });
      throw error;
    });
    if (text === undefined) return undefined;
    try {
      return { attemptId, change: fromText(text) };
    } catch {
      onEvent({ name: "journal_unreadable", path: file });
      return undefined;
    }
  };
  return {
    /** @returns false when it could not be written, which is also reported */
    write: async (attemptId: string, change: SealedChange): Promise<boolean> => {
      try {
        makeFolder(path, { mode: 0o700 });
        await writeWhole(join(path, `${attemptId}.json`), toText(change), rename);
        return true;
      } catch {
        onEvent({ name: "journal_failed", path });
        return false;
      }
    },
    remove: async (attemptId: string): Promise<void> => {
      // A file that stays does no harm: its conditions no longer hold.
      const file = join(path, `${attemptId}.json`);
      await rm(file, { force: true }).catch(() => onEvent({ name: "journal_failed", path: file }));
    },
    /** All readable entries, of any process. */
    entries: async (): Promise<readonly JournalEntry[]> => {
      const names = await readdir(path).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "ENOENT") onEvent({ name: "journal_unreadable", path });
        return [];
      });
      const read = names.map(async (name): Promise<readonly JournalEntry[]> => {
        const attemptId = NAME.exec(name)?.[1];
        const entry = attemptId === undefined ? undefined : await find(attemptId).catch(() => undefined);
        return entry === undefined ? [] : [entry];
      });
      return (await Promise.all(read)).flat();
    },
    find,
  };
}

/**
 * JSON has no `undefined`, and an attribute that must be absent is a condition: it is written as
 * `null`.
 */
function toText({ key, change, expected }: SealedChange): string {
  const conditions = Object.entries(expected).map(([name, value]) => [name, value ?? null] as const);
  return JSON.stringify({ format: FORMAT, key, change, expected: Object.fromEntries(conditions) });
}

/** @throws Error for anything `toText` did not make */
function fromText(text: string): SealedChange {
  const { format, key, change, expected } = JSON.parse(text) as SealedChange & { readonly format: unknown };
  const { set, remove = [] } = change;
  const isWhole = isRecord(set) && isRecord(expected) && remove.every((name) => typeof name === "string");
  if (format !== FORMAT || !isWhole) throw new Error("not a journal file");
  const conditions = Object.entries(expected).map(([name, value]) => [name, value ?? undefined] as const);
  const sealed = { key, change: { set, remove }, expected: Object.fromEntries(conditions) };
  requireRowKey(sealed.key);
  requireChange(sealed.change, sealed.expected);
  return sealed;
}

function isRecord(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
