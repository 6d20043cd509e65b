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

/** A record has some forty texts, and few of them hold what JSON escapes. */
function quoted(text: string): string {
  return NOTHING_TO_ESCAPE.test(text) ? `"${text}"` : JSON.stringify(text);
}
