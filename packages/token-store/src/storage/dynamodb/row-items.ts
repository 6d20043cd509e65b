/** Token rows as items of a DynamoDB table, and their conditional writes. Pure; token-rows.ts has them sent. */
import { ATTEMPT } from "./attempt.ts";
import { createExpressionBuilder } from "./item.ts";
import type { ExpressionBuilder, Expressions, Item, ItemKey, ItemValue } from "./item.ts";
import type { Attribute, Expected, Row, RowChange } from "../token-rows.ts";

const HIDDEN = new Set(["pk", "sk", ATTEMPT]);

export function toRow(item: Item): Row {
  const attributes = Object.entries(item).flatMap(([name, { S: text, N: number }]): [string, Attribute][] => {
    if (HIDDEN.has(name)) return [];
    if (text !== undefined) return [[name, text]];
    return number === undefined ? [] : [[name, Number(number)]];
  });
  return { key: itemKeyOf(item), attributes: Object.fromEntries(attributes) };
}

export function itemKeyOf({ pk, sk }: Item): ItemKey {
  return { pk: pk?.S ?? "", sk: sk?.S ?? "" };
}

/** An item that is not there has no attributes, so conditions of absence hold where there is none, and it is made. */
export function changeExpressions({ set, remove = [] }: RowChange, expected: Expected, attempt: string): Expressions {
  const builder = createExpressionBuilder();
  const { name, value, build } = builder;
  const conditions = conditionsOf(expected, builder);
  const sets = Object.entries(set).map(([of, to]) => `${name(of)} = ${value(toItemValue(to))}`);
  sets.push(`${name(ATTEMPT)} = ${value({ S: attempt })}`);
  // DynamoDB refuses an expression that names an attribute twice.
  const removed = new Set(remove.filter((of) => !Object.hasOwn(set, of)));
  return build({ set: sets, remove: [...removed].map(name), conditions });
}

export function deleteExpressions(expected: Expected): Expressions {
  const builder = createExpressionBuilder();
  return builder.build({ conditions: conditionsOf(expected, builder) });
}

function conditionsOf(expected: Expected, { name, value }: ExpressionBuilder): string[] {
  return Object.entries(expected).map(([of, is]) =>
    is === undefined ? isAbsent(name(of), value) : `${name(of)} = ${value(toItemValue(is))}`,
  );
}

/** Of neither type that is shown: an older build may have written NULL where it had nothing. */
function isAbsent(path: string, value: ExpressionBuilder["value"]): string {
  const has = (type: "S" | "N"): string => `attribute_type(${path}, ${value({ S: type })})`;
  return `(attribute_not_exists(${path}) OR NOT (${has("S")} OR ${has("N")}))`;
}

function toItemValue(value: Attribute): ItemValue {
  // Minus zero is written "0".
  return typeof value === "string" ? { S: value } : { N: String(value) };
}
