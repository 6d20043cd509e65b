/**
 * A RecordStore over another, for records that decide a user's identity: each carries a MAC, so
 * that write access to the table without the key allows nothing but removing records. A row without
 * a valid MAC does not count as a record: `get` and `advance` find nothing, and `create` leaves it
 * unchanged. An older copy of a record, restored to its place, is valid.
 *
 * The MAC covers the whole record, so an advance reads first; then one conditional write on the MAC
 * that was read decides. A read that loses to another write begins again.
 */
import { OAuthError, type Patch, type RecordStore, type StoredRecord } from "@oauth-broker/oauth-core";
import { type Authenticated, isRecordMac, recordMac } from "../crypto/record-mac.ts";
import { isAsExpected, patchedData, requireAdvance } from "./record-rules.ts";

/** The field that holds the MAC. Callers cannot use its name. */
const MAC = "mac";
/** In each round another writer has moved the record between two states that match the request. */
const TRIES = 50;

/** The store beneath, and the key of the MACs. */
export interface AuthenticatedRecordsOptions {
  readonly records: RecordStore;
  /**
   * 32 bytes, used for this purpose only. Called for every record: cache it.
   *
   * @throws OAuthError temporarily_unavailable
   */
  readonly key: () => Promise<Buffer>;
  /** Called with the kind of every row that is refused. */
  readonly onRefused?: (kind: string) => void;
}

/**
 * The same RecordStore, whose records each carry a MAC under `key`. Its methods throw what those of
 * `records`, and `key`, throw.
 */
export function authenticatedRecords({
  records,
  key,
  onRefused = () => undefined,
}: AuthenticatedRecordsOptions): RecordStore {
  /** @returns the record without its MAC; undefined for a row that is not ours */
  const open = async (
    row: StoredRecord,
  ): Promise<{ readonly record: StoredRecord; readonly mac: string } | undefined> => {
    const { [MAC]: mac, ...data } = row.data;
    const record = { ...row, data };
    if (isRecordMac(mac, record, await key())) return { record, mac };
    onRefused(row.key.kind);
    return undefined;
  };
  return {
    get: async (name, options) => {
      const row = await records.get(name, options);
      return row === undefined ? undefined : (await open(row))?.record;
    },
    create: async (record) => {
      requireNotReserved(Object.keys(record.data));
      return records.create({ ...record, data: { ...record.data, [MAC]: recordMac(record, await key()) } });
    },
    advance: async (name, from, patch) => {
      requireAdvance(from, patch);
      requireNotReserved([...Object.keys(from.expect), ...Object.keys(patch.set), ...(patch.remove ?? [])]);
      for (let tries = 0; tries < TRIES; tries += 1) {
        const row = await records.get(name);
        const opened = row === undefined ? undefined : await open(row);
        if (opened === undefined || !isAsExpected(opened.record.data, from)) return { outcome: "absent" };
        const { record, mac } = opened;
        if (record.stage !== from.stage) return { outcome: "replayed", record };
        const set = { ...patch.set, [MAC]: recordMac(patched(record, patch), await key()) };
        const expect = { ...from.expect, [MAC]: mac };
        const advanced = await records.advance(name, { ...from, expect }, { ...patch, set });
        // Verified again: an attacker who writes the table may have changed the row but not its MAC
        // since it was read.
        const moved = advanced.outcome === "moved" ? await open(advanced.record) : undefined;
        if (moved !== undefined) return { outcome: "moved", record: moved.record };
      }
      throw new OAuthError("temporarily_unavailable", "The record is being changed", { detail: "it kept changing" });
    },
    delete: (name) => records.delete(name),
    ping: () => records.ping(),
    close: () => records.close(),
  };
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
