/**
 * The list of connector ids, because a RecordStore finds records by key only. An id may be listed
 * without a connector; a connector is never missing from the list.
 */
import { OAuthError, type RecordStore } from "@oauth-broker/oauth-core";
import { randomToken } from "@oauth-broker/oauth-core/protocol";
import { NEVER } from "./connector-record.ts";

const KEY = { kind: "connector-list", id: "all" };
const STAGE = "list";
const TRIES = 8;

export async function idsOfConnectors(records: RecordStore): Promise<readonly string[]> {
  return (await read(records)).ids;
}

export async function listId(records: RecordStore, id: string): Promise<void> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    // oxlint-disable-next-line no-await-in-loop
    const { ids, revision } = await read(records);
    if (ids.includes(id)) return;
    const set = { v: 1, ids: [...ids, id].toSorted(), revision: randomToken(16) };
    const isWritten =
      revision === undefined
        ? // oxlint-disable-next-line no-await-in-loop
          (await records.create({ key: KEY, stage: STAGE, data: set, expiresAt: NEVER })) === "created"
        : // oxlint-disable-next-line no-await-in-loop
          (await records.advance(KEY, { stage: STAGE, expect: { revision } }, { stage: STAGE, set })).outcome ===
          "moved";
    if (isWritten) return;
  }
  throw new OAuthError("temporarily_unavailable", "Other administrators are adding connectors. Try again");
}

async function read(records: RecordStore): Promise<{ readonly ids: readonly string[]; readonly revision?: string }> {
  const data = (await records.get(KEY))?.data;
  if (data === undefined) return { ids: [] };
  return { ids: data["ids"] as readonly string[], revision: data["revision"] as string };
}
