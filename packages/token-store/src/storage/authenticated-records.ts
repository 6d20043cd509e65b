/**
 * A RecordStore over another, for records that decide whose tokens go where: each carries a MAC, so
 * that write access to the table without the key allows nothing but removing records. A row without
 * a valid MAC does not count as a record: `get` and `advance` find nothing, and `create` leaves it
 * unchanged. An older copy of a record, restored to its place, is valid.
 *
 * The MAC covers the whole record, so an advance needs the record as it stands: as this process last
 * verified it, or else read. One conditional write on its MAC decides. What loses to another write
 * begins again, with a read.
 */
import {
  type From,
  type JsonValue,
  OAuthError,
  type Patch,
  type RecordKey,
  type RecordStore,
  type StoredRecord,
} from "@oauth-broker/oauth-core";
import { type Authenticated, isRecordMac, isSameRecord, recordMac } from "../crypto/record-mac.ts";
import { isAsExpected, keepUntilOf, patchedData, recordName, requireAdvance } from "./record-rules.ts";

/** The field that holds the MAC. Callers cannot use its name. */
const MAC = "mac";
/** In each round another writer has moved the record between two states that match the request. */
const TRIES = 50;
/** Enough for the calls under way: an advance comes soon after the get before it. More would grow old in memory. */
const MOST_VERIFIED = 100;

/** A key of MACs: 32 bytes, used for this purpose only. */
export interface MacKey {
  /** Without dots. Stands in front of every MAC under this key; empty if there is one key alone. */
  readonly kid: string;
  readonly key: Buffer;
}

/** The keys of the MACs. Asked for every record: cache them. */
export interface MacKeys {
  /** @throws OAuthError temporarily_unavailable */
  active(): Promise<MacKey>;
  /**
   * @returns undefined for a key that is unknown, or too old to be believed
   * @throws OAuthError temporarily_unavailable
   */
  find(kid: string): Promise<Buffer | undefined>;
}

/** For a key that is never rotated. */
export function oneMacKey(key: () => Promise<Buffer>): MacKeys {
  return {
    active: async () => ({ kid: "", key: await key() }),
    find: async (kid) => (kid === "" ? key() : undefined),
  };
}

/** A MAC, and the name of its key. */
interface Mac {
  readonly kid: string;
  readonly text: string;
}

/** A record, and the row that holds it: the same with the MAC in its data. */
interface Verified extends Mac {
  readonly record: StoredRecord;
  readonly row: Authenticated;
}

/** The store beneath, and the keys of the MACs. */
export interface AuthenticatedRecordsOptions {
  readonly records: RecordStore;
  readonly keys: MacKeys;
  /** Called with the kind of every row that is refused. */
  readonly onRefused?: (kind: string) => void;
}

/**
 * The same RecordStore, whose records each carry a MAC under one of `keys`. Its methods throw what
 * those of `records`, and of `keys`, throw.
 */
export function authenticatedRecords({
  records,
  keys,
  onRefused = () => undefined,
}: AuthenticatedRecordsOptions): RecordStore {
  const verified = new Map<string, Verified>();
  const remember = (known: Verified): Verified => {
    const name = recordName(known.record.key);
    // Always the last, so that the first of them is the oldest.
    verified.delete(name);
    verified.set(name, known);
    if (verified.size > MOST_VERIFIED) verified.delete(verified.keys().next().value ?? "");
    return known;
  };
  /** @returns undefined for a row that is not ours */
  const open = async (row: StoredRecord | undefined): Promise<Verified | undefined> => {
    if (row === undefined) return undefined;
    const known = verified.get(recordName(row.key));
    // The same row is not verified twice, if its key is still accepted.
    const isKnown = known !== undefined && isSameRecord(row, known.row);
    const { kid, text } = isKnown ? known : splitMac(row.data[MAC]);
    const key = await keys.find(kid);
    if (isKnown && key !== undefined) return remember({ ...known, row });
    const { [MAC]: _, ...data } = row.data;
    const record = { ...row, data };
    if (key !== undefined && isRecordMac(text, record, key)) return remember({ record, row, kid, text });
    verified.delete(recordName(row.key));
    onRefused(row.key.kind);
    return undefined;
  };
  /** @returns undefined if it was not verified here, is not as expected, or its key is no longer accepted */
  const recall = async (name: RecordKey, from: From): Promise<Verified | undefined> => {
    const known = verified.get(recordName(name));
    if (known?.record.stage !== from.stage || !isAsExpected(known.record.data, from)) return undefined;
    return (await keys.find(known.kid)) === undefined ? undefined : known;
  };
  const sign = async <Signed extends Authenticated>(record: Signed) => {
    const { kid, key } = await keys.active();
    const text = recordMac(record, key);
    const mac = joinMac({ kid, text });
    return { kid, text, mac, row: { ...record, data: { ...record.data, [MAC]: mac } } };
  };
  return {
    get: async (name, options) => (await open(await records.get(name, options)))?.record,
    create: async (record) => {
      requireNotReserved(Object.keys(record.data));
      const signed = await sign(record);
      const created = await records.create(signed.row);
      if (created === "created") remember({ ...signed, record: { ...record, keepUntil: keepUntilOf(record) } });
      return created;
    },
    advance: async (name, from, patch) => {
      requireAdvance(from, patch);
      requireNotReserved([...Object.keys(from.expect), ...Object.keys(patch.set), ...(patch.remove ?? [])]);
      for (let tries = 0; tries < TRIES; tries += 1) {
        const opened = (tries === 0 ? await recall(name, from) : undefined) ?? (await open(await records.get(name)));
        if (opened === undefined || !isAsExpected(opened.record.data, from)) return { outcome: "absent" };
        const { record } = opened;
        if (record.stage !== from.stage) return { outcome: "replayed", record };
        const next = patched(record, patch);
        const signed = await sign(next);
        const set = { ...patch.set, [MAC]: signed.mac };
        const expect = { ...from.expect, [MAC]: joinMac(opened) };
        const advanced = await records.advance(name, { ...from, expect }, { ...patch, set });
        if (advanced.outcome !== "moved") continue;
        const row = advanced.record;
        // An attacker who writes the table may have changed the row but not its MAC since it was verified.
        if (isSameRecord(row, signed.row)) {
          const moved = { ...next, keepUntil: row.keepUntil };
          return { outcome: "moved", record: remember({ ...signed, record: moved, row }).record };
        }
        onRefused(name.kind);
      }
      throw new OAuthError("temporarily_unavailable", "The record is being changed", { detail: "it kept changing" });
    },
    delete: (name) => records.delete(name),
    ping: () => records.ping(),
    close: () => records.close(),
  };
}

/** @param mac as stored, of any type. The MAC itself has no dot */
function splitMac(mac: JsonValue | undefined): { readonly kid: string; readonly text: JsonValue | undefined } {
  if (typeof mac !== "string") return { kid: "", text: mac };
  const dot = mac.lastIndexOf(".");
  return { kid: mac.slice(0, Math.max(dot, 0)), text: mac.slice(dot + 1) };
}

function joinMac({ kid, text }: Mac): string {
  return kid === "" ? text : `${kid}.${text}`;
}

function patched({ key, expiresAt, data }: StoredRecord, patch: Patch): Authenticated {
  const next = { key, stage: patch.stage, expiresAt: patch.expiresAt ?? expiresAt };
  return { ...next, data: patchedData(data, patch) };
}

/**
 * A mistake in the calling code.
 *
 * @throws TypeError
 */
function requireNotReserved(names: readonly string[]): void {
  if (names.includes(MAC)) throw new TypeError(`the field ${MAC} is this store's own`);
}
