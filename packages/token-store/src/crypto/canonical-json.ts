/**
 * One text for one value, as RFC 8785 has it: engines and clients may send the members of an object
 * in another order.
 */
import { isJsonList, type JsonValue } from "@oauth-broker/oauth-core";

/** No quotation mark, backslash, control character or surrogate. */
const NOTHING_TO_ESCAPE = /^[\x20\x21\x23-\x5b\x5d-\ud7ff\ue000-\uffff]*$/;

/**
 * Written by hand: an engine has numeric names of an object in another order.
 *
 * @throws RangeError for a value nested deeper than the stack
 */
export function canonicalJson(value: JsonValue): string {
  if (typeof value === "string") return quoted(value);
  if (typeof value !== "object" || value === null) return String(value);
  if (isJsonList(value)) return `[${value.map(canonicalJson).join(",")}]`;
  let members = "";
  for (const name of Object.keys(value).toSorted()) {
    const member = value[name];
    if (member !== undefined) members += `${members === "" ? "" : ","}${quoted(name)}:${canonicalJson(member)}`;
  }
  return `{${members}}`;
}

/** Whether two values are equal, with their members in any order. Then they have one canonical text. */
export function isSameJson(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (isJsonList(a) || isJsonList(b)) {
    return (
      isJsonList(a) && isJsonList(b) && a.length === b.length && a.every((member, at) => isSameJson(member, b[at]))
    );
  }
  const names = Object.keys(a);
  const isSame = (name: string): boolean => Object.hasOwn(b, name) && isSameJson(a[name], b[name]);
  return names.length === Object.keys(b).length && names.every(isSame);
}

/** A record has some forty texts, and few of them hold what JSON escapes. */
function quoted(text: string): string {
  return NOTHING_TO_ESCAPE.test(text) ? `"${text}"` : JSON.stringify(text);
}
