/**
 * A RecordStore in this process's memory: for tests and for a single process that may lose
 * everything when it stops. Same contract as storage/sqlite/record-store.ts. Data is copied on its
 * way in, and frozen: a caller that later changes an object cannot change a record.
 */
import type { Clock, JsonObject, JsonValue, RecordKey, RecordStore, StoredRecord } from "@oauth-broker/oauth-core";
import {
  isAsExpected,
  keepUntilOf,
  patchedData,
  recordName,
  requireAdvance,
  requireNewRecord,
  toJson,
} from "../record-rules.ts";
import { storeUnavailable } from "../../errors.ts";

/** Its data is a copy of our own, of JSON values only, frozen. */
type Row = Omit<StoredRecord, "key">;

const HOUSEKEEPING_EVERY_WRITES = 64;
/** More than twice what 64 writes can add, so the pass covers the map again and again. */
const HOUSEKEEPING_ROWS = 256;

/** @param deps.now decides expiry and what housekeeping may drop */
export function memoryRecordStore({ now }: { readonly now: Clock }): RecordStore {
  const rows = new Map<string, Row>();
  let closed = false;
  let writes = 0;
  let position = rows.entries();

  const requireOpen = (): void => {
    if (closed) throw storeUnavailable(new Error("the store was closed"));
  };
  const wrote = (): void => {
    writes += 1;
    if (writes % HOUSEKEEPING_EVERY_WRITES === 0) dropSome();
  };
  // A Map's iterator keeps its position while rows come and go, so no full pass is ever needed.
  const dropSome = (): void => {
    const at = now();
    for (let seen = 0; seen < HOUSEKEEPING_ROWS; seen += 1) {
      const next = position.next();
      if (next.done === true) {
        position = rows.entries();
        return;
      }
      const [id, row] = next.value;
      if (row.keepUntil <= at) rows.delete(id);
    }
  };

  return {
    get: async (key, options) => {
      requireOpen();
      const row = rows.get(recordName(key));
      if (row === undefined || (row.expiresAt <= now() && options?.includeExpired !== true)) return undefined;
      return toRecord(key, row);
    },
    create: async (record) => {
      requireNewRecord(record);
      const data = normalized(record.data);
      requireOpen();
      const id = recordName(record.key);
      const old = rows.get(id);
      if (old !== undefined && old.expiresAt > now()) return "exists";
      rows.set(id, { stage: record.stage, data, expiresAt: record.expiresAt, keepUntil: keepUntilOf(record) });
      wrote();
      return "created";
    },
    advance: async (key, from, patch) => {
      requireAdvance(from, patch);
      requireOpen();
      const id = recordName(key);
      const row = rows.get(id);
      if (row === undefined || row.expiresAt <= now()) return { outcome: "absent" };
      if (!isAsExpected(row.data, from)) return { outcome: "absent" };
      // No await between the read above and the write below: that makes this one step.
      //= bar#CB-3
      if (row.stage !== from.stage) return { outcome: "replayed", record: toRecord(key, row) };
      const data = Object.freeze(patchedData(row.data, { ...patch, set: normalized(patch.set) }));
      const { stage, expiresAt = row.expiresAt } = patch;
      const moved = { stage, data, expiresAt, keepUntil: Math.max(row.keepUntil, expiresAt) };
      rows.set(id, moved);
      wrote();
      return { outcome: "moved", record: toRecord(key, moved) };
    },
    delete: async (key) => {
      requireOpen();
      rows.delete(recordName(key));
    },
    ping: async () => requireOpen(),
    close: async () => {
      closed = true;
      rows.clear();
    },
  };
}

function toRecord({ kind, id }: RecordKey, row: Row): StoredRecord {
  return { key: { kind, id }, ...row };
}

/**
 * What an engine that stores text would return, frozen. Most fields are texts, times and flags, and
 * need no change.
 */
function normalized(object: JsonObject): JsonObject {
  const result: Record<string, JsonValue> = { ...object };
  for (const name of Object.keys(result)) {
    const value = result[name];
    if (typeof value === "string" || typeof value === "boolean" || (Number.isSafeInteger(value) && value !== 0))
      continue;
    // Undefined members violate the types, and engines that store text leave them out.
    if (value === undefined) return frozen(JSON.parse(JSON.stringify(object)) as JsonObject);
    result[name] = frozen(JSON.parse(toJson(value)) as JsonValue);
  }
  return Object.freeze(result);
}

function frozen<Value extends JsonValue>(value: Value): Value {
  if (typeof value === "object" && value !== null) Object.values(value).forEach(frozen);
  return Object.freeze(value);
}
