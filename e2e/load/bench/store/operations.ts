/**
 * The operations the store's bench compares: our calls, and the requests they cannot do without,
 * sent by the SDK alone: same table, same bytes, same settings of the client, without the store in
 * between. Every answer is checked, so that a store that does less than it should counts as broken,
 * not as fast.
 */
import { randomUUID } from "node:crypto";
import {
  type AttributeValue,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { dynamodbRecordStore } from "@oauth-broker/token-store/dynamodb";
import { awsRequests } from "../../../../packages/token-store/src/aws-requests.ts";
import type { Engines } from "../../engines.ts";
import { inLanes, LANES } from "../../lanes.ts";
import { RECORD_DATA } from "../../scale/fixture/fill.ts";
import { createTurns, recordsOf } from "./records.ts";
import {
  DEADLINE_MS,
  keyOf,
  openStore,
  READERS,
  readerName,
  readUser,
  requireSealed,
  TOKENS,
  VENDOR,
} from "./tokens.ts";

type Item = Readonly<Record<string, AttributeValue>>;

const KIND = "bench";

/** Keys of the table (docs/storage-schema.md). */
const rowKey = (user: string): Item => ({ pk: { S: `USER#${user}` }, sk: { S: `VENDOR#${VENDOR}` } });
const recordKey = (id: string): Item => ({ pk: { S: `RECORD#${id}` }, sk: { S: `KIND#${KIND}` } });

const writer = (lane: number): string => `writer-${lane}`;
const bareWriter = (lane: number): string => `bare-${lane}`;

/**
 * @returns the operations by name, in the order in which they are measured: compared ones next to
 *   each other, each on a lane from 0 to LANES - 1: lanes run at the same time and write their own
 *   records. Also the size of a sealed row as the engine received it: its names and values
 * @throws Error when a row contains a token in plaintext
 */
export async function openOperations(engines: Engines) {
  const { get, put, advance, close } = openBare(engines);
  const store = openStore(engines);
  const beneath = dynamodbRecordStore({ ...engines, deadlineMs: DEADLINE_MS, now: () => 1_700_000_000 });
  const records = recordsOf(beneath, KIND);
  const lanes = Array.from({ length: LANES }, (_, lane) => lane);

  const users = [...Array.from({ length: READERS }, (_, at) => readerName(at)), ...lanes.map(writer)];
  await inLanes(LANES, users.length, (_, at) => store.put(keyOf(users[at]!), TOKENS));
  const sealed = await get(rowKey(writer(0)));
  requireSealed(sealed);
  for (const lane of lanes) await records.create(writer(lane));
  const pushed = await get(recordKey(writer(0)));
  const items = lanes.map((lane): Item => ({ ...sealed, ...rowKey(bareWriter(lane)) }));
  for (const lane of lanes) {
    await put(items[lane]!);
    await put({ ...pushed, ...recordKey(bareWriter(lane)) });
  }

  let turn = 0;
  const nextReader = (): string => readerName((turn += 1));
  const nextStage = { bare: createTurns(), ours: createTurns() };

  const operations: Readonly<Record<string, (lane: number) => Promise<void>>> = {
    "GetItem, consistent": async () => void (await get(rowKey(nextReader()))),
    "TokenStore.get": () => readUser(store, keyOf(nextReader())),
    PutItem: (lane) => put(items[lane]!),
    "TokenStore.put": async (lane) => {
      const { version } = await store.put(keyOf(writer(lane)), TOKENS);
      if (version < 2) throw new Error("the tokens were not put over those before");
    },
    "GetItem, then PutItem": async (lane) => {
      await get(rowKey(bareWriter(lane)));
      await put(items[lane]!);
    },
    "PutItem of a new item": () => put({ ...pushed, ...recordKey(randomUUID()) }, { isNew: true }),
    "RecordStore.create": () => records.create(randomUUID()),
    "UpdateItem under a condition": (lane) => advance(recordKey(bareWriter(lane)), nextStage.bare(lane)),
    "RecordStore.advance": (lane) => records.advance(writer(lane), nextStage.ours(lane)),
  };
  return {
    operations,
    rowBytes: sizeOf(sealed),
    close: async () => {
      await store.close();
      await beneath.close();
      close();
    },
  };
}

/** The client is the token store's, except for the retry strategy: the SDK's own here. */
function openBare({ endpoint, region, table: TableName }: Engines) {
  const client = new DynamoDBClient({ region, endpoint, maxAttempts: 8, requestHandler: awsRequests() });
  return {
    get: async (key: Item): Promise<Item> => {
      const { Item: item } = await client.send(new GetItemCommand({ TableName, Key: key, ConsistentRead: true }));
      if (item === undefined) throw new Error(`no item ${key["pk"]?.S}`);
      return item;
    },
    put: async (item: Item, { isNew = false } = {}): Promise<void> => {
      const condition = {
        ConditionExpression: "attribute_not_exists(#pk)",
        ExpressionAttributeNames: { "#pk": "pk" },
      };
      await client.send(new PutItemCommand({ TableName, Item: item, ...(isNew && condition) }));
    },
    /** Answers the item, as a record store must. */
    advance: async (key: Item, [from, to]: readonly [from: string, to: string]): Promise<void> => {
      const { Attributes: item } = await client.send(
        new UpdateItemCommand({
          TableName,
          Key: key,
          UpdateExpression: "SET #stage = :to, #data.#set = :set",
          ConditionExpression: "#stage = :from AND #expires_at > :now AND #data.#client = :client",
          ExpressionAttributeNames: {
            "#stage": "stage",
            "#data": "data",
            "#set": "attempt",
            "#expires_at": "expires_at",
            "#client": "client",
          },
          ExpressionAttributeValues: {
            ":from": { S: from },
            ":to": { S: to },
            ":set": { S: to },
            ":now": { N: "1" },
            ":client": { S: RECORD_DATA.client },
          },
          ReturnValues: "ALL_NEW",
        }),
      );
      if (item?.["stage"]?.S !== to) throw new Error("the item did not move");
    },
    close: () => client.destroy(),
  };
}

/** Approximately DynamoDB's size: names and values. */
function sizeOf(item: Item): number {
  return Object.entries(item).reduce((sum, [name, { S = "", N = "" }]) => sum + Buffer.byteLength(name + S + N), 0);
}
