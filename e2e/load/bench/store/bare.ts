/**
 * The requests a store sends, sent by the SDK alone: same table, same bytes, same settings of the
 * client, without the store in between. The store's figures are divided by these.
 */
import {
  type AttributeValue,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import type { NewRecord, RecordKey } from "@oauth-broker/oauth-core";
import type { Engines } from "../../engines.ts";

export type Item = Readonly<Record<string, AttributeValue>>;
export type Key = Readonly<Record<"pk" | "sk", string>>;

export interface Bare {
  /**
   * GetItem, consistent.
   * @throws Error when the item does not exist
   */
  get(key: Key): Promise<Item>;
  /** PutItem without a condition. */
  put(item: Item): Promise<void>;
  /**
   * PutItem on the condition that the item does not
   * exist. @throws Error when it does
   */
  create(item: Item): Promise<void>;
  /**
   * UpdateItem from one stage to another; answers the item, as a record store must.
   * @throws Error when it did not advance
   */
  advance(key: Key, move: { readonly from: string; readonly to: string; readonly client: string }): Promise<void>;
  close(): void;
}

/**
 * As in token-store/src/storage/dynamodb/table.ts, except for the retry strategy: the SDK's own
 * here.
 */
export function openBare({ endpoint, region, table }: Pick<Engines, "endpoint" | "region" | "table">): Bare {
  const agent = { keepAlive: true, maxSockets: 100 };
  const client = new DynamoDBClient({
    region,
    endpoint,
    maxAttempts: 8,
    requestHandler: {
      connectionTimeout: 500,
      requestTimeout: 1500,
      throwOnRequestTimeout: true,
      httpAgent: agent,
      httpsAgent: agent,
    },
  });
  const asKey = ({ pk, sk }: Key): Item => ({ pk: { S: pk }, sk: { S: sk } });
  return {
    get: async (key) => {
      const { Item: item } = await client.send(
        new GetItemCommand({ TableName: table, Key: asKey(key), ConsistentRead: true }),
      );
      if (item === undefined) throw new Error(`no item ${key.pk}`);
      return item;
    },
    put: async (item) => {
      await client.send(new PutItemCommand({ TableName: table, Item: item }));
    },
    create: async (item) => {
      await client.send(
        new PutItemCommand({
          TableName: table,
          Item: item,
          ConditionExpression: "attribute_not_exists(#pk)",
          ExpressionAttributeNames: { "#pk": "pk" },
        }),
      );
    },
    advance: async (key, { from, to, client: of }) => {
      const { Attributes: item } = await client.send(
        new UpdateItemCommand({
          TableName: table,
          Key: asKey(key),
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
            ":client": { S: of },
          },
          ReturnValues: "ALL_NEW",
        }),
      );
      if (item?.["stage"]?.S !== to) throw new Error("the item did not move");
    },
    close: () => client.destroy(),
  };
}

/**
 * A record as the record store lays it out (docs/storage-schema.md), except for the id of the
 * attempt that wrote it.
 */
export function bareRecord(
  key: RecordKey,
  {
    stage,
    data,
    expiresAt,
  }: Pick<NewRecord, "stage" | "expiresAt"> & { readonly data: Readonly<Record<string, string>> },
): Item {
  const { pk, sk } = bareRecordKey(key);
  return {
    pk: { S: pk },
    sk: { S: sk },
    stage: { S: stage },
    expires_at: { N: String(expiresAt) },
    ttl: { N: String(expiresAt) },
    data: { M: Object.fromEntries(Object.entries(data).map(([name, text]) => [name, { S: text }] as const)) },
  };
}

export function bareRecordKey({ kind, id }: RecordKey): Key {
  return { pk: `RECORD#${id}`, sk: `KIND#${kind}` };
}
