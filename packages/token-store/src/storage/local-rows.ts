/**
 * TokenRows over an engine on this machine, which several statements may use as one step: memory
 * and SQLite.
 */
import {
  changedAttributes,
  fromCursor,
  isAsExpectedRow,
  requireChange,
  requireExpected,
  requireLimit,
  requirePartition,
  requireRowKey,
  toCursor,
} from "./row-rules.ts";
import type { Attributes, Row, RowKey, TokenRows } from "./token-rows.ts";

export interface RowStatements {
  read(key: RowKey): Attributes | undefined;
  write(key: RowKey, attributes: Attributes): void;
  remove(key: RowKey): void;
  partition(pk: string): Row[];
  /** @param after undefined for the first rows */
  page(after: RowKey | undefined, limit: number): Row[];
}

/** @param engine.transact runs the statements of an operation as one step */
export function localRows(
  table: string,
  engine: {
    readonly read: <T>(operation: (statements: RowStatements) => T) => T | Promise<T>;
    readonly transact: <T>(operation: (statements: RowStatements) => T) => Promise<T>;
  } & Pick<TokenRows, "eraseFreed" | "ping" | "close">,
): TokenRows {
  const { read, transact, ...others } = engine;
  return {
    table,
    get: async (key) => {
      requireRowKey(key);
      const attributes = await read((statements) => statements.read(key));
      return attributes === undefined ? undefined : { key: { pk: key.pk, sk: key.sk }, attributes };
    },
    change: async (key, change, expected) => {
      requireRowKey(key);
      requireChange(change, expected);
      return transact((statements) => {
        const old = statements.read(key);
        if (!isAsExpectedRow(old, expected)) return "conflict";
        statements.write(key, changedAttributes(old, change));
        return "written";
      });
    },
    delete: async (key, expected) => {
      requireRowKey(key);
      requireExpected(expected);
      return transact((statements) => {
        if (!isAsExpectedRow(statements.read(key), expected)) return "conflict";
        statements.remove(key);
        return "deleted";
      });
    },
    partition: async (pk) => {
      requirePartition(pk);
      return read(({ partition }) => partition(pk));
    },
    scan: async ({ limit, cursor }) => {
      requireLimit(limit);
      const after = cursor === undefined ? undefined : fromCursor(cursor);
      const found = await read(({ page }) => page(after, limit + 1));
      const rows = found.slice(0, limit);
      const last = rows.at(-1);
      return last === undefined || found.length <= limit ? { rows } : { rows, cursor: toCursor(last.key) };
    },
    ...others,
  };
}
