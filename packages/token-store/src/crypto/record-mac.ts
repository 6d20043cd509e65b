/**
 * Proves that a record was written by a holder of the key: an HMAC over its format, kind, id,
 * stage, expiry and every field. Used by storage/authenticated-records.ts.
 */
import { timingSafeEqual } from "node:crypto";
import { hmac, type StoredRecord } from "@oauth-broker/oauth-core";
import { canonicalJson, isSameJson } from "./canonical-json.ts";
import { associatedData } from "./encoding.ts";

/** `keepUntil` is left out: only housekeeping uses it. */
export type Authenticated = Pick<StoredRecord, "key" | "stage" | "expiresAt" | "data">;

/** What is authenticated, and in which order. */
const FORMAT = "record 1";
const VERSION = 1;

/**
 * @param record its data without the MAC
 * @param key 32 bytes, used for this purpose only
 * @returns 43 characters, base64url
 */
export function recordMac(record: Authenticated, key: Buffer): string {
  // Every part is prefixed with its length: no two records give the same bytes.
  //= bar#TS-3
  return hmac("sha256", key, associatedData(VERSION, partsOf(record))).toString("base64url");
}

function partsOf({ key: { kind, id }, stage, expiresAt, data }: Authenticated): readonly string[] {
  return [FORMAT, kind, id, stage, String(expiresAt), canonicalJson(data)];
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

/** Whether a MAC of one is a MAC of the other. The texts are compared only if the values differ. */
export function isSameRecord(a: Authenticated, b: Authenticated): boolean {
  if (a.stage !== b.stage || a.expiresAt !== b.expiresAt || a.key.kind !== b.key.kind || a.key.id !== b.key.id)
    return false;
  return isSameJson(a.data, b.data) || canonicalJson(a.data) === canonicalJson(b.data);
}
