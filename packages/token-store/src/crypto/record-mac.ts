/**
 * Proves that a record was written by a holder of the key: an HMAC over its format, kind, id,
 * stage, expiry and every field. Used by storage/authenticated-records.ts.
 */
import { timingSafeEqual } from "node:crypto";
import { hmacSha256, isJsonList, type JsonObject, type JsonValue, type StoredRecord } from "@oauth-broker/oauth-core";
import { associatedData } from "./encoding.ts";

/** `keepUntil` is left out: only housekeeping uses it. */
export type Authenticated = Pick<StoredRecord, "key" | "stage" | "expiresAt" | "data">;

/** What is authenticated, and in which order. */
const FORMAT = "record 1";
const VERSION = 1;
/** No quotation mark, backslash, control character or surrogate. */
const NOTHING_TO_ESCAPE = /^[\x20\x21\x23-\x5b\x5d-\ud7ff\ue000-\uffff]*$/;

/**
 * @param record its data without the MAC
 * @param key 32 bytes, used for this purpose only
 * @returns 43 characters, base64url
 */
export function recordMac({ key: { kind, id }, stage, expiresAt, data }: Authenticated, key: Buffer): string {
  // Every part is prefixed with its length: no two records give the same bytes.
  //= bar#TS-3
  const parts = [FORMAT, kind, id, stage, String(expiresAt), canonicalJson(data)];
  return hmacSha256(key, associatedData(VERSION, parts)).toString("base64url");
}

/**
 * Compares in constant time.
 *
 * @param mac as stored, of any type
 */
export function isRecordMac(mac: unknown, record: Authenticated, key: Buffer): mac is string {
  if (typeof mac !== "string") return false;
  const [expected, actual] = [Buffer.from(recordMac(record, key)), Buffer.from(mac)];
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}

/**
 * One text for one value, as RFC 8785 has it: engines and clients may send the members of an object
 * in another order.
 *
 * @throws RangeError for a value nested deeper than the stack
 */
export function canonicalJson(value: JsonValue): string {
  if (typeof value === "string") return quoted(value);
  if (typeof value !== "object" || value === null) return String(value);
  if (isJsonList(value)) return `[${value.map(canonicalJson).join(",")}]`;
  return `{${membersOf(value)}}`;
}

function membersOf(object: JsonObject): string {
  let members = "";
  for (const name of Object.keys(object).toSorted()) {
    const value = object[name];
    if (value === undefined) continue;
    members += `${members === "" ? "" : ","}${quoted(name)}:${canonicalJson(value)}`;
  }
  return members;
}

/** A record has some forty texts, and few of them hold what JSON escapes. */
function quoted(text: string): string {
  return NOTHING_TO_ESCAPE.test(text) ? `"${text}"` : JSON.stringify(text);
}
