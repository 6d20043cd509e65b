/**
 * JSON whose numbers keep the digits they were written with. JSON.parse makes a double of each:
 * 17841405822304915 becomes another account's id, 1e400 becomes null when it is written again. Used
 * for what a vendor says and we pass on; what we read ourselves is read from `withPlainNumbers`.
 */
import type { JsonObject, JsonValue } from "../ports.ts";

/** In the language since ECMAScript 2026, in Node.js since 21; not in TypeScript's library yet. */
interface ExactJson {
  parse(text: string, reviver: (name: string, value: unknown, context: { source?: string }) => unknown): JsonValue;
  /** Frozen, without prototype; JSON.stringify writes the text as it is. */
  rawJSON(number: string): { readonly rawJSON: string };
  isRawJSON(value: unknown): value is { readonly rawJSON: string };
}

const EXACT = JSON as unknown as ExactJson;

/** What begins like a number and is not a whole one of at most 15 digits. */
const PERHAPS_INEXACT = /(?:^|[[:,])\s*(?!(?:0|-?[1-9]\d{0,14})\s*(?:[,\]}]|$))[-\d]/;

/**
 * As JSON.parse, except that a number it would write in other digits is an object that
 * JSON.stringify writes as it was. `isJsonObject` is false for it.
 *
 * @throws SyntaxError
 */
export function parseExactJson(text: string): JsonValue {
  if (!PERHAPS_INEXACT.test(text)) return JSON.parse(text) as JsonValue;
  return EXACT.parse(text, (_name, value, { source }) =>
    typeof value === "number" && source !== undefined && String(value) !== source ? EXACT.rawJSON(source) : value,
  );
}

/** Whether a value of `parseExactJson` is a number that no double holds in these digits. */
export function isExactNumber(value: unknown): value is { readonly rawJSON: string } {
  return EXACT.isRawJSON(value);
}

/** The same with every number as JSON.parse reads it. */
export function withPlainNumbers(value: JsonObject): JsonObject;
export function withPlainNumbers(value: JsonValue): JsonValue;
export function withPlainNumbers(value: JsonValue): JsonValue {
  if (typeof value !== "object" || value === null) return value;
  if (isExactNumber(value)) return Number(value.rawJSON);
  if (isJsonList(value)) return value.map((member) => withPlainNumbers(member));
  if (Object.values(value).every((member) => typeof member !== "object")) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withPlainNumbers(member)]));
}

/** Whether a JSON value is a list; `Array.isArray` alone says nothing to the compiler of a read-only list. */
export function isJsonList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}
