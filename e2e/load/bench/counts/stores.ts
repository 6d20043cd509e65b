/**
 * The operations of a store that are counted: records with their MACs, and sealed tokens, as a
 * deployed server keeps them.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { join } from "node:path";
import { type RecordStore, systemClock as now, systemTimer } from "@oauth-broker/oauth-core";
import {
  authenticatedRecords,
  createTokenStore,
  localKeyWrapper,
  oneMacKey,
  type TokenRows,
} from "@oauth-broker/token-store";
import { dynamodbRecordStore, dynamodbTokenRows } from "@oauth-broker/token-store/dynamodb";
import { memoryRecordStore, memoryTokenRows } from "@oauth-broker/token-store/memory";
import { sqliteRecordStore, sqliteTokenRows } from "@oauth-broker/token-store/sqlite";
import type { Engines } from "../../engines.ts";
import { createTurns, recordsOf } from "../store/records.ts";
import { DEADLINE_MS, keyOf, readUser, TOKENS } from "../store/tokens.ts";

interface Beneath {
  readonly records: RecordStore;
  readonly rows: TokenRows;
}

/** In the order of the table. @param folder of this run, for files */
export function countedStores(engines: Engines, folder: string): Readonly<Record<string, Beneath>> {
  const path = join(folder, "counts.sqlite");
  const options = { ...engines, deadlineMs: DEADLINE_MS };
  return {
    memory: { records: memoryRecordStore({ now }), rows: memoryTokenRows() },
    sqlite: { records: sqliteRecordStore({ path, now }), rows: sqliteTokenRows({ path }) },
    dynamodb: { records: dynamodbRecordStore({ ...options, now }), rows: dynamodbTokenRows(options) },
  };
}

const KIND = "count";

/** Each operation throws an Error when the answer is wrong. @param most records that are deleted */
export async function openCountedStore({ records: beneath, rows }: Beneath, folder: string, most: number) {
  const macKey = randomBytes(32);
  const records = authenticatedRecords({ records: beneath, keys: oneMacKey(async () => macKey) });
  const keys = localKeyWrapper({ path: join(folder, "key") });
  const tokens = createTokenStore({ rows, timer: systemTimer, keys, mode: "encrypted", environment: "counts", now });
  const { create, advance } = recordsOf(records, KIND);
  const key = { kind: KIND, id: randomUUID() };
  await create(key.id);
  for (let number = 0; number < most; number += 1) await create(`deleted-${number}`);
  const nextStage = createTurns();
  let deleted = 0;
  const user = keyOf("user");
  const operations: Readonly<Record<string, () => Promise<void>>> = {
    "record create": () => create(randomUUID()),
    "record get": async () => {
      if ((await records.get(key)) === undefined) throw new Error("the record is gone");
    },
    "record advance": () => advance(key.id, nextStage()),
    "record delete": async () => {
      await records.delete({ kind: KIND, id: `deleted-${deleted}` });
      deleted += 1;
    },
    "token put": async () => void (await tokens.put(user, TOKENS)),
    "token get": () => readUser(tokens, user),
  };
  return {
    operations,
    close: async () => {
      await tokens.close();
      await records.close();
    },
  };
}
