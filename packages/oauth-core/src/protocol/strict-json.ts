/**
 * JSON with only one reading. JSON.parse takes the last of two equal member names, another parser
 * the first; a sender who repeats a name makes the two disagree. Used on vendors' responses and on
 * the JSON values of request parameters.
 */
import type { JsonObject, JsonValue } from "../ports.ts";
import { isExactNumber, parseExactJson } from "../mechanics/exact-json.ts";

const MAX_DEPTH = 32;

/**
 * @throws SyntaxError for anything that is not JSON, for a member name used twice in one object
 *   (also when one of them is written with escapes), for `__proto__`, and beyond 32 levels. The
 *   message never quotes the text.
 */
export function parseJsonStrict(text: string): JsonValue {
  return parseWith(JSON.parse, text);
}

/**
 * The same with exact numbers (exact-json.ts).
 *
 * @throws SyntaxError as parseJsonStrict
 */
export function parseExactJsonStrict(text: string): JsonValue {
  return parseWith(parseExactJson, text);
}

function parseWith(parse: (text: string) => JsonValue, text: string): JsonValue {
  refuseAmbiguity(text);
  try {
    return parse(text);
  } catch {
    // The engine's message quotes the text, and the text may be a vendor's token answer.
    throw new SyntaxError("not JSON");
  }
}

/** @throws SyntaxError as parseJsonStrict, and for JSON that is not an object */
export function parseJsonObject(text: string): JsonObject {
  const value = parseJsonStrict(text);
  if (isJsonObject(value)) return value;
  throw new SyntaxError("not a JSON object");
}

/** Whether a JSON value is an object: neither a list, nor null, nor a number with exact digits. */
export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isExactNumber(value);
}

/** @returns the same object if it has no member that is null; such a member counts as absent */
export function withoutNulls(members: JsonObject): JsonObject {
  const known = Object.entries(members).filter(([, value]) => value !== null);
  return known.length === Object.keys(members).length ? members : Object.fromEntries(known);
}

/**
 * Walks brackets and strings only. Text that is not JSON may pass here: JSON.parse refuses it
 * afterwards.
 */
function refuseAmbiguity(text: string): void {
  /** One entry per open container: the member names so far, or undefined in an array. */
  const open: (Set<string> | undefined)[] = [];
  let names: Set<string> | undefined;
  let nameComes = false;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case 0x7b: // {
      case 0x5b: // [
        //= bar#EG-8
        if (open.length === MAX_DEPTH) throw new SyntaxError("JSON is nested too deeply");
        nameComes = text[at] === "{";
        names = nameComes ? new Set() : undefined;
        open.push(names);
        break;
      case 0x7d: // }
      case 0x5d: // ]
        open.pop();
        names = open.at(-1);
        nameComes = false;
        break;
      case 0x2c: // ,
        nameComes = names !== undefined;
        break;
      case 0x22: {
        const end = endOfString(text, at);
        if (nameComes && names !== undefined) addName(names, text.slice(at, end + 1));
        nameComes = false;
        at = end;
        break;
      }
      default:
    }
  }
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === 0x5c) at += 1;
    else if (unit === 0x22) return at;
  }
  throw new SyntaxError("not JSON");
}

function addName(names: Set<string>, quoted: string): void {
  const name = quoted.includes("\\") ? unquote(quoted) : quoted.slice(1, -1);
  if (name === "__proto__") throw new SyntaxError("JSON has a member named __proto__");
  //= rfc8259#4
  if (names.has(name)) throw new SyntaxError("JSON has a member twice");
  names.add(name);
}

function unquote(quoted: string): string {
  try {
    const name: string = JSON.parse(quoted);
    return name;
  } catch {
    throw new SyntaxError("not JSON");
  }
}
