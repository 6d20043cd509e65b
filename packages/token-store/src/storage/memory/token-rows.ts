/** Token rows in memory: for tests, and the model the other adapters are compared with. */
import { storeUnavailable } from "../../errors.ts";
import { localRows, type RowStatements } from "../local-rows.ts";
import { compareKeys } from "../row-rules.ts";
import { type Row, rowId, type TokenRows } from "../token-rows.ts";

/**
 * Token rows in this process alone, gone with it.
 *
 * @param options.table what sealed fields are bound to; default `memory`
 */
export function memoryTokenRows({ table = "memory" }: { readonly table?: string } = {}): TokenRows {
  const rows = new Map<string, Row>();
  let closed = false;
  const ordered = (): Row[] => [...rows.values()].toSorted((a, b) => compareKeys(a.key, b.key));
  const statements: RowStatements = {
    read: (key) => {
      const row = rows.get(rowId(key));
      return row && copyOf(row).attributes;
    },
    write: ({ pk, sk }, attributes) => void rows.set(rowId({ pk, sk }), { key: { pk, sk }, attributes }),
    remove: (key) => void rows.delete(rowId(key)),
    partition: (pk) => ordered().flatMap((row) => (row.key.pk === pk ? [copyOf(row)] : [])),
    page: (after, limit) => {
      const rest = ordered().filter(({ key }) => after === undefined || compareKeys(key, after) > 0);
      return rest.slice(0, limit).map(copyOf);
    },
  };
  const transact = async <T>(operation: (of: RowStatements) => T): Promise<T> => {
    if (closed) throw storeUnavailable(new Error("the store was closed"));
    return operation(statements);
  };
  return localRows(table, {
    read: transact,
    transact,
    ping: () => transact(() => undefined),
    close: async () => {
      closed = true;
      rows.clear();
    },
  });
}

/** A copy, so that a caller cannot change a row by changing the object it received. */
function copyOf({ key, attributes }: Row): Row {
  return { key: { ...key }, attributes: { ...attributes } };
}
