/**
 * Token rows in a DynamoDB table, attribute by attribute as older readers know them (docs/storage-schema.md). The table may
 * hold other items too, a broker's records for one: they are left alone, and a scan shows them as the rows they are.
 */
import type { DynamoDbOptions } from "./table.ts";
import { openDynamoTable } from "./table.ts";
import { newAttempt } from "./attempt.ts";
import { fromCursor, toCursor } from "../row-cursor.ts";
import { changeExpressions, deleteExpressions, itemKeyOf, toRow } from "./row-items.ts";
import { requireChange, requireExpected, requireLimit, requirePartition, requireRowKey } from "../row-rules.ts";
import type { TokenRows } from "../token-rows.ts";

export function dynamodbTokenRows(options: DynamoDbOptions): TokenRows {
  const table = openDynamoTable(options);
  return {
    table: options.table,
    get: async (key) => {
      requireRowKey(key);
      //= bar#TS-18
      const item = await table.call((items) => items.get(key));
      return item === undefined ? undefined : toRow(item);
    },
    change: async (key, change, expected) => {
      requireRowKey(key);
      requireChange(change, expected);
      const attempt = newAttempt();
      const expressions = changeExpressions(change, expected, attempt);
      const { written } = await table.call((items) => items.update(key, expressions, attempt, "NONE"));
      return written ? "written" : "conflict";
    },
    delete: async (key, expected) => {
      requireRowKey(key);
      requireExpected(expected);
      const expressions = deleteExpressions(expected);
      const { written } = await table.call((items) => items.delete(key, expressions));
      return written ? "deleted" : "conflict";
    },
    partition: async (pk) => {
      requirePartition(pk);
      return (await table.call((items) => items.query(pk))).map(toRow);
    },
    scan: async ({ limit, cursor }) => {
      requireLimit(limit);
      const after = cursor === undefined ? undefined : fromCursor(cursor);
      const { items, last } = await table.call((requests) => requests.scan(limit, after));
      const rows = items.map(toRow);
      return last === undefined ? { rows } : { rows, cursor: toCursor(itemKeyOf(last)) };
    },
    ping: table.ping,
    close: table.close,
  };
}
