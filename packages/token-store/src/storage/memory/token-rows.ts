/** Token rows in memory: for tests, and the model the other adapters are compared with. */
import { storeUnavailable } from "../../errors.ts";
import {
  changedAttributes,
  compareKeys,
  fromCursor,
  isAsExpectedRow,
  requireChange,
  requireExpected,
  requireLimit,
  requirePartition,
  requireRowKey,
  toCursor,
} from "../row-rules.ts";
import type { Row, RowKey, TokenRows } from "../token-rows.ts";

/**
 * Token rows in this process alone, gone with it.
 *
 * @param options.table what sealed fields are bound to; default `memory`
 */
export function memoryTokenRows({ table = "memory" }: { readonly table?: string } = {}): TokenRows {
  const rows = new Map<string, Row>();
  let closed = false;
  const idOf = ({ pk, sk }: RowKey): string => JSON.stringify([pk, sk]);
  const ordered = (): Row[] => [...rows.values()].toSorted((a, b) => compareKeys(a.key, b.key));
  const requireOpen = (): void => {
    if (closed) throw storeUnavailable(new Error("the store was closed"));
  };

  return {
    table,
    get: async (key) => {
      requireRowKey(key);
      requireOpen();
      const row = rows.get(idOf(key));
      return row === undefined ? undefined : copyOf(row);
    },
    change: async (key, change, expected) => {
      requireRowKey(key);
      requireChange(change, expected);
      requireOpen();
      const old = rows.get(idOf(key))?.attributes;
      if (!isAsExpectedRow(old, expected)) return "conflict";
      rows.set(idOf(key), { key: { pk: key.pk, sk: key.sk }, attributes: changedAttributes(old, change) });
      return "written";
    },
    delete: async (key, expected) => {
      requireRowKey(key);
      requireExpected(expected);
      requireOpen();
      if (!isAsExpectedRow(rows.get(idOf(key))?.attributes, expected)) return "conflict";
      rows.delete(idOf(key));
      return "deleted";
    },
    partition: async (pk) => {
      requirePartition(pk);
      requireOpen();
      return ordered().flatMap((row) => (row.key.pk === pk ? [copyOf(row)] : []));
    },
    scan: async ({ limit, cursor }) => {
      requireLimit(limit);
      const after = cursor === undefined ? undefined : fromCursor(cursor);
      requireOpen();
      const rest = ordered().filter(({ key }) => after === undefined || compareKeys(key, after) > 0);
      const page = rest.slice(0, limit).map(copyOf);
      const last = page.at(-1);
      return last === undefined || rest.length <= limit ? { rows: page } : { rows: page, cursor: toCursor(last.key) };
    },
    ping: async () => requireOpen(),
    close: async () => {
      closed = true;
      rows.clear();
    },
  };
}

/** A copy, so that a caller cannot change a row by changing the object it received. */
function copyOf({ key, attributes }: Row): Row {
  return { key: { ...key }, attributes: { ...attributes } };
}
