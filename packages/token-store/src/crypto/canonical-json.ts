/**
 * One text for one value, as RFC 8785 has it: engines and clients may send the members of an object
 * in another order.
 */
import { isJsonList, type JsonObject, type JsonValue } from "@oauth-broker/oauth-core";

/** No quotation mark, backslash, control character or surrogate. */
const NOTHING_TO_ESCAPE = /^[\x20\x21\x23-\x5b\x5d-\ud7ff\ue000-\uffff]*$/;

/**
 * Fast for a value that is in order.
 *
 * @throws RangeError for a value nested deeper than the stack
 */
export function canonicalJson(value: JsonValue): string {
  return isInOrder(value) ? JSON.stringify(value) : reorderedJson(value);
}

/**
 * The same data with the names of all its objects in order, if it was not: what is written once is
 * then in order for all who read it. Numeric names stay in the order of the engine.
 *
 * @throws RangeError as canonicalJson
 */
export function inOrder(data: JsonObject): JsonObject {
  return isInOrder(data) ? data : sorted(data);
}

/** Whether the names of all its objects are sorted: its text is then the canonical one. */
function isInOrder(value: JsonValue | undefined): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (isJsonList(value)) return value.every(isInOrder);
  let last = "";
  for (const name of Object.keys(value)) {
    if (name < last || !isInOrder(value[name])) return false;
    last = name;
  }
  return true;
}

function sorted(object: JsonObject): JsonObject {
  const names = Object.keys(object).toSorted();
  // Not by assignment if the name would assign a prototype.
  if (Object.hasOwn(object, "__proto__"))
    return Object.fromEntries(names.map((name) => [name, sortedValue(object[name])])) as JsonObject;
  const result: Record<string, JsonValue | undefined> = {};
  for (const name of names) result[name] = sortedValue(object[name]);
  return result as JsonObject;
}

function sortedValue(value: JsonValue | undefined): JsonValue | undefined {
  if (typeof value !== "object" || value === null) return value;
  return isJsonList(value) ? value.map((member) => sortedValue(member) ?? null) : sorted(value);
}

/** Written by hand: an engine has numeric names of an object in another order. */
function reorderedJson(value: JsonValue): string {
  if (typeof value === "string") return quoted(value);
  if (typeof value !== "object" || value === null) return String(value);
  if (isJsonList(value)) return `[${value.map(reorderedJson).join(",")}]`;
  const members = Object.keys(value)
    .toSorted()
    .flatMap((name) => {
      const member = value[name];
      return member === undefined ? [] : [`${quoted(name)}:${reorderedJson(member)}`];
    });
  return `{${members.join(",")}}`;
}

/** A record has some forty texts, and few of them hold what JSON escapes. */
function quoted(text: string): string {
  return NOTHING_TO_ESCAPE.test(text) ? `"${text}"` : JSON.stringify(text);
}
