/**
 * What every adapter of TokenRows checks and decides the same way, regardless of its engine. A
 * violation is a mistake in the calling code, hence TypeError.
 */
import type { Attribute, Attributes, Expected, RowChange, RowKey } from "./token-rows.ts";

/**
 * The key, `attempt`, by which an adapter recognises its own write, and a name that objects lose.
 */
const RESERVED = new Set(["pk", "sk", "attempt", "__proto__"]);
/** DynamoDB's limits of a key, in bytes. */
const PK_BYTES = 2048;
const SK_BYTES = 1024;
/** DynamoDB's limits of a number. */
const SMALLEST = 1e-130;
const BEYOND = 1e126;

/** @throws TypeError */
export function requireRowKey({ pk, sk }: RowKey): void {
  requirePartition(pk);
  requireKeyPart(sk, SK_BYTES);
}

/** @throws TypeError */
export function requirePartition(pk: string): void {
  requireKeyPart(pk, PK_BYTES);
}

/** @throws TypeError for a reserved name, or a value that some engine would not return unchanged */
export function requireChange({ set, remove = [] }: RowChange, expected: Expected): void {
  Object.entries(set).forEach(([name, value]) => requireAttribute(name, value));
  remove.forEach(requireName);
  requireExpected(expected);
}

/** @throws TypeError */
export function requireExpected(expected: Expected): void {
  for (const [name, value] of Object.entries(expected)) {
    if (value === undefined) requireName(name);
    else requireAttribute(name, value);
  }
}

/** @throws TypeError for less than one row at a time */
export function requireLimit(limit: number): void {
  if (!Number.isSafeInteger(limit) || limit < 1) throw new TypeError("a page has at least one row");
}

/** @param attributes of the current row; undefined when the row does not exist */
export function isAsExpectedRow(attributes: Attributes | undefined, expected: Expected): boolean {
  return Object.entries(expected).every(([name, value]) => {
    const has = attributes !== undefined && Object.hasOwn(attributes, name);
    return has ? attributes[name] === value : value === undefined;
  });
}

export function changedAttributes(attributes: Attributes = {}, { set, remove = [] }: RowChange): Attributes {
  const kept = Object.entries(attributes).filter(([name]) => !remove.includes(name));
  return Object.fromEntries([...kept, ...Object.entries(set).map(([name, value]) => [name, withoutMinusZero(value)])]);
}

/** In the order of DynamoDB's keys: bytes of UTF-8, not JavaScript's code units. */
export function compareKeys(a: RowKey, b: RowKey): number {
  return Buffer.compare(Buffer.from(a.pk), Buffer.from(b.pk)) || Buffer.compare(Buffer.from(a.sk), Buffer.from(b.sk));
}

function withoutMinusZero(value: Attribute): Attribute {
  return value === 0 ? 0 : value;
}

function requireKeyPart(part: string, most: number): void {
  if (part === "" || !part.isWellFormed() || Buffer.byteLength(part) > most) {
    throw new TypeError(`a part of a row's key is well-formed text of 1 to ${most} bytes`);
  }
}

function requireAttribute(name: string, value: unknown): void {
  requireName(name);
  if (typeof value === "string") {
    if (!value.isWellFormed()) throw new TypeError("an attribute's text has half a surrogate pair");
    return;
  }
  if (typeof value !== "number") throw new TypeError("an attribute is a string or a number");
  const size = Math.abs(value);
  if (value !== 0 && !(size >= SMALLEST && size < BEYOND)) throw new TypeError("an attribute's number is out of range");
}

function requireName(name: string): void {
  if (name === "" || RESERVED.has(name)) throw new TypeError("an attribute cannot have this name");
}

/**
 * Where the next page of a scan starts, as text that a command may keep in a file between two runs.
 *
 * @param key of the last row of the previous page
 */
export function toCursor({ pk, sk }: RowKey): string {
  return Buffer.from(JSON.stringify([pk, sk])).toString("base64url");
}

/** @throws TypeError for text that no scan returned */
export function fromCursor(cursor: string): RowKey {
  try {
    const key: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString());
    const [pk, sk] = Array.isArray(key) ? (key as readonly unknown[]) : [];
    if (typeof pk === "string" && typeof sk === "string") return { pk, sk };
  } catch {
    // Not JSON at all.
  }
  throw new TypeError("not the cursor of a scan");
}
