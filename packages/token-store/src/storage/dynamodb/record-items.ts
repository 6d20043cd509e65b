/**
 * Records as items of a DynamoDB table, and the two conditional writes over them. Pure; table.ts
 * sends the requests. The layout is in docs/storage-schema.md: a release reads what earlier ones
 * wrote.
 */
import type {
  EpochSeconds,
  From,
  JsonObject,
  JsonValue,
  NewRecord,
  Patch,
  RecordKey,
  StoredRecord,
} from "@oauth-broker/oauth-core";
import { unknownFormat } from "../../errors.ts";
import { ATTEMPT, createExpressionBuilder, type Expressions, type Item, type ItemValue } from "./item.ts";
import { fromJson, keepUntilOf, toJson } from "../record-rules.ts";
import type { RowKey } from "../token-rows.ts";

/** The only member of a map that represents a value that is not a plain string. */
const JSON_TEXT = "json";

type FieldValue =
  | { readonly S: string; readonly M?: never }
  | { readonly M: { readonly [JSON_TEXT]: { readonly S: string } }; readonly S?: never };

export function recordItemKey({ kind, id }: RecordKey): RowKey {
  return { pk: `RECORD#${id}`, sk: `KIND#${kind}` };
}

export function recordItem(record: NewRecord, attempt: string): Item {
  const { pk, sk } = recordItemKey(record.key);
  return {
    pk: { S: pk },
    sk: { S: sk },
    stage: { S: record.stage },
    expires_at: { N: String(record.expiresAt) },
    ttl: { N: String(keepUntilOf(record)) },
    [ATTEMPT]: { S: attempt },
    data: { M: toItemData(record.data) },
  };
}

/** The record does not exist, or has expired. */
export function createCondition(now: EpochSeconds): Expressions {
  return {
    ConditionExpression: "attribute_not_exists(#pk) OR #expires_at <= :now",
    ExpressionAttributeNames: { "#pk": "pk", "#expires_at": "expires_at" },
    ExpressionAttributeValues: { ":now": { N: String(now) } },
  };
}

/**
 * @param options.extend whether `ttl` grows to the patch's `expiresAt`. DynamoDB has no maximum
 *   function, so either way its present value is part of the condition, and a call that guessed
 *   wrong tries again
 */
export function advanceExpressions(
  from: From,
  patch: Patch,
  { now, attempt, extend }: { readonly now: EpochSeconds; readonly attempt: string; readonly extend: boolean },
): Expressions {
  const { name, value, build } = createExpressionBuilder();
  const field = (of: string): string => `${name("data")}.${name(of)}`;
  const conditions = [
    `${name("stage")} = ${value({ S: from.stage })}`,
    `${name("expires_at")} > ${value({ N: String(now) })}`,
  ];
  for (const [of, expected] of Object.entries(from.expect)) {
    const { S: text, M: map } = toItemValue(expected);
    // Not every engine compares maps; all of them compare the text inside.
    const path = text === undefined ? `${field(of)}.${name(JSON_TEXT)}` : field(of);
    conditions.push(`${path} = ${value({ S: text ?? map[JSON_TEXT].S })}`);
  }
  const set = [`${name("stage")} = ${value({ S: patch.stage })}`, `${name(ATTEMPT)} = ${value({ S: attempt })}`];
  for (const [of, to] of Object.entries(patch.set)) set.push(`${field(of)} = ${value(toItemValue(to))}`);
  if (patch.expiresAt !== undefined) {
    const expiresAt = value({ N: String(patch.expiresAt) });
    set.push(`${name("expires_at")} = ${expiresAt}`);
    if (extend) set.push(`${name("ttl")} = ${expiresAt}`);
    conditions.push(`${name("ttl")} ${extend ? "<" : ">="} ${expiresAt}`);
  }
  // DynamoDB refuses an expression that names a path twice.
  const remove = new Set(patch.remove?.filter((of) => !Object.hasOwn(patch.set, of)));
  return build({ set, remove: [...remove].map(field), conditions });
}

/** @throws OAuthError temporarily_unavailable for an item that is not one of our records */
export function toRecord(key: RecordKey, item: Item): StoredRecord {
  const { stage, expires_at: expiresAt, ttl, data } = item;
  if (stage?.S === undefined || expiresAt?.N === undefined || ttl?.N === undefined || data?.M === undefined) {
    throw unknownFormat(`a ${key.kind} record without stage, times or data`);
  }
  return {
    key: { kind: key.kind, id: key.id },
    stage: stage.S,
    data: fromItemData(data.M, key.kind),
    expiresAt: Number(expiresAt.N),
    keepUntil: Number(ttl.N),
  };
}

/**
 * Strings as they are, so that conditions can name them; all else as JSON text, which keeps any
 * number and equals no string.
 */
function toItemValue(value: JsonValue): FieldValue {
  // Half a surrogate pair survives only as a JSON escape.
  if (typeof value === "string" && value.isWellFormed()) return { S: value };
  return { M: { [JSON_TEXT]: { S: toJson(value) } } };
}

/** @throws TypeError for a field that the SDK or the engine would drop silently */
function toItemData(data: JsonObject): Item {
  const item: Record<string, ItemValue> = {};
  for (const [name, value] of Object.entries(data) as [string, JsonValue | undefined][]) {
    if (name === "" || name === "__proto__") throw new TypeError("a record field cannot have this name in DynamoDB");
    if (value !== undefined) item[name] = toItemValue(value);
  }
  return item;
}

function fromItemData(data: Item, kind: string): JsonObject {
  return Object.fromEntries(
    Object.entries(data).map(([name, { S: text, M: map }]): [string, JsonValue] => {
      if (text !== undefined) return [name, text];
      const json = map?.[JSON_TEXT]?.S;
      const what = `a field of a ${kind} record`;
      if (json === undefined) throw unknownFormat(what);
      return [name, fromJson(json, what)];
    }),
  );
}
