/**
 * The list of connector ids, because a RecordStore finds records by key only. An id may be listed
 * without a connector; a connector is never missing from the list.
 */
import type { JsonObject, RecordStore } from "@oauth-broker/oauth-core";
import { changeRecord } from "@oauth-broker/service";
import { NEVER } from "./connector-record.ts";

const KEY = { kind: "connector-list", id: "all" };
const ROUNDS = 8;

export async function idsOfConnectors(records: RecordStore): Promise<readonly string[]> {
  return idsIn((await records.get(KEY))?.data);
}

export async function listId(records: RecordStore, id: string): Promise<void> {
  await changeRecord(KEY, {
    records,
    stage: "list",
    rounds: ROUNDS,
    busy: "Other administrators are adding connectors. Try again",
    decide: (data) => {
      const ids = idsIn(data);
      if (ids.includes(id)) return { result: undefined };
      return { next: { data: { v: 1, ids: [...ids, id].toSorted() }, expiresAt: NEVER }, result: undefined };
    },
  });
}

function idsIn(data: JsonObject | undefined): readonly string[] {
  return (data?.["ids"] ?? []) as readonly string[];
}
