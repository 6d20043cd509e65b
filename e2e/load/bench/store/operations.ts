/**
 * The operations the store's bench compares: our calls, and the requests they cannot do
 * without. Every answer is checked, so that a store that does less than it should counts as broken,
 * not as fast.
 */
import { randomUUID } from "node:crypto";
import { dynamodbRecordStore } from "@oauth-broker/token-store/dynamodb";
import { bareRecord, bareRecordKey, type Item, openBare } from "./bare.ts";
import type { Engines } from "../../engines.ts";
import { inLanes, LANES } from "../../lanes.ts";
import {
  DEADLINE_MS,
  inTurn,
  keyOf,
  openStore,
  READERS,
  readerName,
  readUser,
  requireSealed,
  rowKeyOf,
  TOKENS,
} from "./tokens.ts";

/**
 * The subjects by name: our calls, and the requests of the SDK that they are compared with. In the
 * order in which they are measured: compared ones next to each other.
 */
export const STORE_LABELS = {
  getItem: "GetItem, consistent",
  get: "TokenStore.get",
  putItem: "PutItem",
  put: "TokenStore.put",
  getItemPutItem: "GetItem, then PutItem",
  putNewItem: "PutItem of a new item",
  create: "RecordStore.create",
  updateItem: "UpdateItem under a condition",
  advance: "RecordStore.advance",
} as const;
export type StoreSubject = keyof typeof STORE_LABELS;

/**
 * One operation.
 * @param lane 0 to LANES - 1: lanes run at the same time and write their own records
 */
export type Operation = (lane: number) => Promise<void>;

const KIND = "bench";
const STAGES = ["pushed", "started"] as const;
const EXPIRES_AT = 2 ** 32;

/** A pushed flow, as the broker stores it. */
export const RECORD_DATA: Readonly<Record<string, string>> & { readonly client: string } = {
  v: "1",
  client: "platform",
  vendor: "github",
  cookieHash: "c".repeat(43),
  redirectUri: "https://acme.platform.example/oauth/vendor-callback",
  codeChallenge: "d".repeat(43),
  state: "s".repeat(60),
  attempt: "none",
};
const PUSHED = { stage: STAGES[0], data: RECORD_DATA, expiresAt: EXPIRES_AT };

/**
 * @returns also the size of a sealed row as the engine received it: its names and values
 * @throws Error when a row contains a token in plaintext
 */
export async function openOperations(engines: Engines): Promise<{
  readonly operations: Readonly<Record<StoreSubject, Operation>>;
  readonly rowBytes: number;
  close(): Promise<void>;
}> {
  const bare = openBare(engines);
  const store = openStore(engines);
  const records = dynamodbRecordStore({ ...engines, deadlineMs: DEADLINE_MS, now: () => 1_700_000_000 });
  const readers = Array.from({ length: READERS }, (_, at) => readerName(at));
  const lanes = Array.from({ length: LANES }, (_, lane) => lane);

  const users = [...readers, ...lanes.map(writer)];
  await inLanes(LANES, users.length, (_, at) => store.put(keyOf(users[at]!), TOKENS));
  const sealed = await bare.get(rowKeyOf(writer(0)));
  requireSealed(sealed);
  const items = lanes.map((lane): Item => ({ ...sealed, pk: { S: rowKeyOf(bareWriter(lane)).pk } }));
  for (const lane of lanes) {
    await bare.put(items[lane]!);
    await bare.put(bareRecord({ kind: KIND, id: bareWriter(lane) }, PUSHED));
    await records.create({ key: { kind: KIND, id: writer(lane) }, ...PUSHED });
  }

  const nextKey = inTurn(readers.map(keyOf));
  const nextRowKey = inTurn(readers.map(rowKeyOf));
  const nextStage = { bare: createTurns(), ours: createTurns() };

  const operations: Record<StoreSubject, Operation> = {
    getItem: async () => void (await bare.get(nextRowKey())),
    get: () => readUser(store, nextKey()),
    putItem: (lane) => bare.put(items[lane]!),
    put: async (lane) => {
      const { version } = await store.put(keyOf(writer(lane)), TOKENS);
      if (version < 2) throw new Error("the tokens were not put over those before");
    },
    getItemPutItem: async (lane) => {
      await bare.get(rowKeyOf(bareWriter(lane)));
      await bare.put(items[lane]!);
    },
    putNewItem: () => bare.create(bareRecord({ kind: KIND, id: randomUUID() }, PUSHED)),
    create: async () => {
      const key = { kind: KIND, id: randomUUID() };
      const outcome = await records.create({ key, ...PUSHED });
      if (outcome !== "created") throw new Error("a new record was there before");
    },
    updateItem: async (lane) => {
      const [from, to] = nextStage.bare(lane);
      await bare.advance(bareRecordKey({ kind: KIND, id: bareWriter(lane) }), { from, to, client: RECORD_DATA.client });
    },
    advance: async (lane) => {
      const [from, to] = nextStage.ours(lane);
      const { outcome } = await records.advance(
        { kind: KIND, id: writer(lane) },
        { stage: from, expect: { client: RECORD_DATA.client } },
        { stage: to, set: { attempt: to } },
      );
      if (outcome !== "moved") throw new Error(`the record is ${outcome}`);
    },
  };
  return {
    operations,
    rowBytes: sizeOf(sealed),
    close: async () => {
      await store.close();
      await records.close();
      bare.close();
    },
  };
}

const writer = (lane: number): string => `writer-${lane}`;
const bareWriter = (lane: number): string => `bare-${lane}`;

/** From one stage to the other and back, for each lane. */
function createTurns(): (lane: number) => readonly [from: string, to: string] {
  const turned = new Set<number>();
  return (lane) => {
    if (turned.delete(lane)) return [STAGES[1], STAGES[0]];
    turned.add(lane);
    return STAGES;
  };
}

/** Approximately DynamoDB's size: names and values. */
function sizeOf(item: Item): number {
  return Object.entries(item).reduce((sum, [name, { S = "", N = "" }]) => sum + Buffer.byteLength(name + S + N), 0);
}
