/** Token rows in this process: tests, and the model the other adapters are compared with. */
import type { Expected, Row, RowKey, TokenRows } from "./token-rows.ts";

export function memoryTokenRows({ table = "memory" }: { readonly table?: string } = {}): TokenRows {
  const rows = new Map<string, Row>();
  const idOf = ({ pk, sk }: RowKey): string => JSON.stringify([pk, sk]);
  const holds = (row: Row | undefined, expected: Expected): boolean =>
    Object.entries(expected).every(([name, value]) => ownValue(row, name) === value);
  const ordered = (): Row[] => [...rows.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);

  return {
    table,
    get: async (key) => rows.get(idOf(key)),
    change: async (key, { set, remove = [] }, expected) => {
      const old = rows.get(idOf(key));
      if (!holds(old, expected)) return "conflict";
      const kept = Object.entries(old?.attributes ?? {}).filter(([name]) => !remove.includes(name));
      const attributes = Object.fromEntries([...kept, ...Object.entries(set)]);
      rows.set(idOf(key), { key: { pk: key.pk, sk: key.sk }, attributes });
      return "written";
    },
    delete: async (key, expected) => {
      if (!holds(rows.get(idOf(key)), expected)) return "conflict";
      rows.delete(idOf(key));
      return "deleted";
    },
    partition: async (pk) => ordered().filter(({ key }) => key.pk === pk),
    scan: async ({ limit, cursor }) => {
      const rest = ordered().filter(({ key }) => cursor === undefined || idOf(key) > cursor);
      const page = rest.slice(0, limit);
      const last = page.at(-1);
      return last === undefined || rest.length <= limit ? { rows: page } : { rows: page, cursor: idOf(last.key) };
    },
    ping: async () => undefined,
    close: async () => rows.clear(),
  };
}

function ownValue(row: Row | undefined, name: string): string | number | undefined {
  return row !== undefined && Object.hasOwn(row.attributes, name) ? row.attributes[name] : undefined;
}
