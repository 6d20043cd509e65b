/**
 * A RecordStore in this process's memory: for tests and for a single process that may forget everything when it stops.
 * Same contract as records/sqlite.ts. Data is kept as JSON text, so a caller that later changes an object it passed in
 * or got out cannot change a record.
 */
import type { Clock, JsonObject, RecordKey, RecordStore, StoredRecord } from "@oauth-broker/oauth-core";
import { isAsExpected, keepUntilOf, requireAdvance, requireNewRecord, toJson } from "./record-rules.ts";
import { storeUnavailable } from "./unavailable.ts";

interface Row {
  readonly stage: string;
  readonly data: string;
  readonly expiresAt: number;
  readonly keepUntil: number;
}

const HOUSEKEEPING_EVERY_WRITES = 64;
/** More than twice what 64 writes can add, so the rest of the map is passed again and again. */
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
  // A Map's iterator goes on where it was while rows come and go, so no pass over everything is ever needed.
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
      const row = rows.get(rowId(key));
      if (row === undefined || (row.expiresAt <= now() && options?.includeExpired !== true)) return undefined;
      return toRecord(key, row);
    },
    create: async (record) => {
      requireNewRecord(record);
      const data = toJson(record.data);
      requireOpen();
      const id = rowId(record.key);
      const old = rows.get(id);
      if (old !== undefined && old.expiresAt > now()) return "exists";
      rows.set(id, { stage: record.stage, data, expiresAt: record.expiresAt, keepUntil: keepUntilOf(record) });
      wrote();
      return "created";
    },
    advance: async (key, from, patch) => {
      requireAdvance(from, patch);
      requireOpen();
      const id = rowId(key);
      const row = rows.get(id);
      if (row === undefined || row.expiresAt <= now()) return { outcome: "absent" };
      const data = JSON.parse(row.data) as JsonObject;
      if (!isAsExpected(data, from)) return { outcome: "absent" };
      // No await between the read above and the write below: that is what makes this one step.
      //= bar#CB-3
      if (row.stage !== from.stage) return { outcome: "replayed", record: toRecord(key, row) };
      const dropped = new Set(patch.remove);
      const kept = Object.entries(data).filter(([name]) => !dropped.has(name));
      const expiresAt = patch.expiresAt ?? row.expiresAt;
      const moved = {
        stage: patch.stage,
        data: toJson({ ...Object.fromEntries(kept), ...patch.set }),
        expiresAt,
        keepUntil: Math.max(row.keepUntil, expiresAt),
      };
      rows.set(id, moved);
      wrote();
      return { outcome: "moved", record: toRecord(key, moved) };
    },
    delete: async (key) => {
      requireOpen();
      rows.delete(rowId(key));
    },
    ping: async () => requireOpen(),
    close: async () => {
      closed = true;
      rows.clear();
    },
  };
}

/** Length in front: no two keys share an id, whatever characters they hold. */
function rowId(key: RecordKey): string {
  return `${key.kind.length}:${key.kind}${key.id}`;
}

function toRecord(key: RecordKey, row: Row): StoredRecord {
  const { stage, expiresAt, keepUntil } = row;
  return { key: { kind: key.kind, id: key.id }, stage, data: JSON.parse(row.data) as JsonObject, expiresAt, keepUntil };
}
