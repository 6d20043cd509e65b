/**
 * Token rows in a DynamoDB table, attribute by attribute as older readers know them
 * (docs/storage-schema.md), and their conditional writes. The table may hold other items too, such
 * as a broker's records: they are left alone, and a scan returns them as plain rows.
 */
import {
  fromCursor,
  requireChange,
  requireExpected,
  requireLimit,
  requirePartition,
  requireRowKey,
  toCursor,
} from "../row-rules.ts";
import type { Attribute, Expected, Row, RowChange, TokenRows } from "../token-rows.ts";
import {
  ATTEMPT,
  createExpressionBuilder,
  type ExpressionBuilder,
  type Expressions,
  type Item,
  itemKeyOf,
  type ItemValue,
  newAttempt,
} from "./item.ts";
import { type DynamoDbOptions, openDynamoTable } from "./table.ts";

/** Token rows in a DynamoDB table. Opens nothing yet: the first call does. */
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
      const builder = createExpressionBuilder();
      const expressions = builder.build({ conditions: conditionsOf(expected, builder) });
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

const HIDDEN = new Set(["pk", "sk", ATTEMPT]);

function toRow(item: Item): Row {
  const attributes = Object.entries(item).flatMap(([name, { S: text, N: number }]): [string, Attribute][] => {
    if (HIDDEN.has(name)) return [];
    if (text !== undefined) return [[name, text]];
    return number === undefined ? [] : [[name, Number(number)]];
  });
  return { key: itemKeyOf(item), attributes: Object.fromEntries(attributes) };
}

/**
 * A missing item has no attributes, so conditions of absence hold for it, and the write creates it.
 */
function changeExpressions({ set, remove = [] }: RowChange, expected: Expected, attempt: string): Expressions {
  const builder = createExpressionBuilder();
  const { name, value, build } = builder;
  const conditions = conditionsOf(expected, builder);
  const sets = Object.entries(set).map(([of, to]) => `${name(of)} = ${value(toItemValue(to))}`);
  sets.push(`${name(ATTEMPT)} = ${value({ S: attempt })}`);
  // DynamoDB refuses an expression that names an attribute twice.
  const removed = new Set(remove.filter((of) => !Object.hasOwn(set, of)));
  return build({ set: sets, remove: [...removed].map(name), conditions });
}

function conditionsOf(expected: Expected, { name, value }: ExpressionBuilder): string[] {
  return Object.entries(expected).map(([of, is]) =>
    is === undefined ? isAbsent(name(of), value) : `${name(of)} = ${value(toItemValue(is))}`,
  );
}

/** Neither a string nor a number: an older build may have written NULL when it had nothing. */
function isAbsent(path: string, value: ExpressionBuilder["value"]): string {
  const has = (type: "S" | "N"): string => `attribute_type(${path}, ${value({ S: type })})`;
  return `(attribute_not_exists(${path}) OR NOT (${has("S")} OR ${has("N")}))`;
}

function toItemValue(value: Attribute): ItemValue {
  // Minus zero is written "0".
  return typeof value === "string" ? { S: value } : { N: String(value) };
}
