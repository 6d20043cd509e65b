/**
 * What every RecordStore checks before it uses its engine, so that all of them refuse and default
 * the same. A violation is a mistake in the calling code, never in a request, hence TypeError and
 * not OAuthError.
 */
import {
  type From,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type NewRecord,
  type Patch,
  type RecordKey,
} from "@oauth-broker/oauth-core";
import { unknownFormat } from "../errors.ts";

const FIELD_NAME = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;
/** Those that were checked: the program has some fifty, and each write names a dozen of them. */
const FIELD_NAMES = new Set<string>();

/**
 * Checks a name. It comes from code, but an engine may make a path of it, in which a name such as
 * `a"."b` would address another field.
 *
 * @throws TypeError
 */
function requireFieldName(name: string): void {
  if (FIELD_NAMES.has(name)) return;
  if (!FIELD_NAME.test(name)) throw new TypeError("a record field is named by a letter, then letters, digits or _");
  FIELD_NAMES.add(name);
}

/**
 * @throws TypeError when a time is not a whole number of seconds: each engine would round it in its
 *   own way
 */
export function requireNewRecord(record: NewRecord): void {
  requireSeconds(record.expiresAt);
  if (record.keepUntil !== undefined) requireSeconds(record.keepUntil);
}

/**
 * @throws TypeError for a bad field name, value or time, and for a patch that leaves everything in
 *   `from` true: then two calls with the same `from` could both be `moved`, which the port rules
 *   out
 */
export function requireAdvance(from: From, patch: Patch): void {
  const expected = Object.keys(from.expect);
  expected.forEach(requireFieldName);
  for (const [name, value] of Object.entries(patch.set)) {
    requireFieldName(name);
    requireJson(value);
  }
  patch.remove?.forEach(requireFieldName);
  if (patch.expiresAt !== undefined) requireSeconds(patch.expiresAt);
  if (patch.stage !== from.stage) return;
  const changes = (name: string): boolean =>
    Object.hasOwn(patch.set, name) ? patch.set[name] !== from.expect[name] : (patch.remove?.includes(name) ?? false);
  if (!expected.some(changes)) throw new TypeError("an advance leaves its stage or changes a field it expects");
}

/** Whether every field that `from` expects is present and equals that string. */
export function isAsExpected(data: JsonObject, from: From): boolean {
  return Object.keys(from.expect).every((name) => Object.hasOwn(data, name) && data[name] === from.expect[name]);
}

/**
 * The data after an advance. Rebuilt when a field is removed: an object that had a
 * property deleted stays slow.
 */
export function patchedData(data: JsonObject, { set, remove = [] }: Pick<Patch, "set" | "remove">): JsonObject {
  return remove.length === 0 ? { ...data, ...set } : { ...withoutFields(data, remove), ...set };
}

function withoutFields(data: JsonObject, names: readonly string[]): Record<string, JsonValue> {
  // Not by assignment if the name would assign a prototype.
  if (Object.hasOwn(data, "__proto__")) {
    return Object.fromEntries(Object.entries(data).filter(([name]) => !names.includes(name)));
  }
  const kept: Record<string, JsonValue> = {};
  for (const name of Object.keys(data)) {
    const value = data[name];
    if (value !== undefined && !names.includes(name)) kept[name] = value;
  }
  return kept;
}

/** Prefixed with the length: no two keys have one name, with any characters in them. */
export function recordName({ kind, id }: RecordKey): string {
  return `${kind.length}:${kind}${id}`;
}

/** `keepUntil` as stored: never before `expiresAt`. */
export function keepUntilOf(record: NewRecord): number {
  return Math.max(record.keepUntil ?? record.expiresAt, record.expiresAt);
}

/**
 * The text an engine stores.
 *
 * @throws TypeError for a value that is not JSON
 */
export function toJson(value: JsonValue): string {
  requireJson(value);
  return JSON.stringify(value);
}

/**
 * The inverse. JSON.parse would quote the text in its error, and that goes to the log.
 *
 * @throws OAuthError temporarily_unavailable, naming only `what`
 */
export function fromJson(text: string, what: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    throw unknownFormat(what);
  }
}

/** The same for text that must hold an object. */
export function objectFromJson(text: string, what: string): JsonObject {
  const value = fromJson(text, what);
  if (!isJsonObject(value)) throw unknownFormat(what);
  return value;
}

/**
 * The types require it already; a value that slips past them would be stored as nothing, or not at
 * all.
 */
function requireJson(value: unknown): void {
  if (value === undefined || typeof value === "function" || typeof value === "symbol" || typeof value === "bigint") {
    throw new TypeError("a record field must be a JSON value");
  }
}

function requireSeconds(value: number): void {
  if (!Number.isSafeInteger(value)) throw new TypeError("a record's times are whole seconds");
}
