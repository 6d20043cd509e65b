/**
 * The process whose operations store.ts counts: records with their MACs, and sealed tokens, as a
 * deployed server keeps them.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { join } from "node:path";
import { type RecordStore, systemClock, systemTimer } from "@oauth-broker/oauth-core";
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
import { answerCalls } from "../../worker.ts";
import { RECORD_DATA } from "../store/operations.ts";
import { DEADLINE_MS, keyOf, readUser, TOKENS } from "../store/tokens.ts";
import { counts } from "./counter.ts";
import { countOperation, type OperationCounts } from "./operation-counts.ts";

export type Store = "memory" | "sqlite" | "dynamodb";

interface Place {
  readonly engines: Engines;
  /** Of this run, for files. */
  readonly folder: string;
}

// A type, not an interface: it must have an index signature.
// oxlint-disable-next-line typescript/consistent-type-definitions
export type StoreCountCalls = {
  /** By operation. */
  readonly count: (store: Store, place: Place) => Promise<Readonly<Record<string, OperationCounts>>>;
};

const KIND = "count";
const EXPIRES_AT = 2 ** 32;
/** More than are deleted. */
const DELETED = 100;
const now = systemClock;

answerCalls(
  {
    count: async (store: Store, place: Place) => {
      const { records, rows } = open(store, place);
      return { ...(await countRecords(records)), ...(await countTokens(rows, place)) };
    },
  } satisfies StoreCountCalls,
  async () => undefined,
);

function open(store: Store, { engines, folder }: Place): { readonly records: RecordStore; readonly rows: TokenRows } {
  if (store === "memory") return { records: memoryRecordStore({ now }), rows: memoryTokenRows() };
  if (store === "sqlite") {
    const path = join(folder, "counts.sqlite");
    return { records: sqliteRecordStore({ path, now }), rows: sqliteTokenRows({ path }) };
  }
  const options = { ...engines, deadlineMs: DEADLINE_MS };
  return { records: dynamodbRecordStore({ ...options, now }), rows: dynamodbTokenRows(options) };
}

async function countRecords(beneath: RecordStore): Promise<Record<string, OperationCounts>> {
  const macKey = randomBytes(32);
  const records = authenticatedRecords({ records: beneath, keys: oneMacKey(async () => macKey) });
  const key = { kind: KIND, id: randomUUID() };
  const create = async (id: string): Promise<void> => {
    const record = { key: { kind: KIND, id }, stage: "pushed", data: RECORD_DATA, expiresAt: EXPIRES_AT };
    if ((await records.create(record)) !== "created") throw new Error("a new record was there before");
  };
  await create(key.id);
  for (let number = 0; number < DELETED; number += 1) await create(`deleted-${number}`);
  let [from, to] = ["pushed", "started"];
  let deleted = 0;
  return {
    "record create": await countHere(() => create(randomUUID())),
    "record get": await countHere(async () => {
      if ((await records.get(key)) === undefined) throw new Error("the record is gone");
    }),
    "record advance": await countHere(async () => {
      const { outcome } = await records.advance(key, { stage: from, expect: {} }, { stage: to, set: { attempt: to } });
      if (outcome !== "moved") throw new Error(`the record is ${outcome}`);
      [from, to] = [to, from];
    }),
    "record delete": await countHere(async () => {
      await records.delete({ kind: KIND, id: `deleted-${deleted}` });
      deleted += 1;
    }),
  };
}

async function countTokens(rows: TokenRows, { folder }: Place): Promise<Record<string, OperationCounts>> {
  const keys = localKeyWrapper({ path: join(folder, "key") });
  const store = createTokenStore({ rows, timer: systemTimer, keys, mode: "encrypted", environment: "counts", now });
  const key = keyOf("user");
  return {
    "token put": await countHere(async () => store.put(key, TOKENS)),
    "token get": await countHere(async () => readUser(store, key)),
  };
}

/** A store writes no log. */
function countHere(operation: () => Promise<unknown>): Promise<OperationCounts> {
  return countOperation(() => ({ ...counts, logBytes: 0 }), operation);
}
