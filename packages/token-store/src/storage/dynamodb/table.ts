/**
 * A DynamoDB table used by several processes and machines: record-store.ts and token-rows.ts send
 * their requests through it. The only file that imports DynamoDB's client. One conditional write of
 * one item at a time, nothing else: no transactions, no indexes. Our clock decides expiry; the
 * table's TTL only deletes rows.
 */
import { defined } from "@oauth-broker/oauth-core";
import {
  type AttributeValue,
  DeleteItemCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { awsRequests } from "../../aws-requests.ts";
import { createBoundedCalls } from "./bounded-calls.ts";
import { dynamoUnavailable, fromDynamoError } from "./errors.ts";
import { type Expressions, isOwnAttempt, type Item, itemKeyOf, newAttempt } from "./item.ts";
import { createRetries, DEFAULT_MAX_ATTEMPTS } from "./retries.ts";
import type { RowKey } from "../token-rows.ts";

/**
 * `item` as it now stands: as written, or as it failed the condition; undefined when the item does
 * not exist.
 */
interface Written {
  readonly written: boolean;
  readonly item: Item | undefined;
}

const LIMITS = {
  /**
   * From a call of the store to its refusal, over all its requests and attempts. Bar 8.3 requires
   * three seconds.
   */
  deadlineMs: 2500,
  /** The limit for one attempt of a request. */
  requestTimeoutMs: 1500,
  /** Attempts of one request. */
  maxAttempts: DEFAULT_MAX_ATTEMPTS,
};
/** One item with a fixed key: writing it proves that writes work. */
const PING: RowKey = { pk: "PING", sk: "PING" };

/** Which table, and how long a call may take. */
export interface DynamoDbOptions extends Readonly<Partial<typeof LIMITS>> {
  /** With the keys `pk` (S) and `sk` (S), and `ttl` as its TTL attribute. */
  readonly table: string;
  readonly region: string;
  /** Default: the SDK's own, from its variables or the region. */
  readonly endpoint?: string;
}

/**
 * Opens nothing yet: the first call does. So a table that is missing or unavailable makes calls
 * fail, not the start.
 */
export function openDynamoTable(options: DynamoDbOptions) {
  const { table, region, endpoint, maxAttempts, deadlineMs, requestTimeoutMs } = { ...LIMITS, ...options };
  const retries = createRetries(maxAttempts);
  const client = new DynamoDBClient({
    region,
    ...defined({ endpoint }),
    maxAttempts,
    retryStrategy: retries.strategy,
    requestHandler: awsRequests(requestTimeoutMs),
  });
  const calls = createBoundedCalls(deadlineMs, { refusal: (why) => dynamoUnavailable(why.message, why) });

  /** The requests of one call of a store. Reads are strongly consistent. */
  const itemsWith = (abortSignal: AbortSignal) => {
    const answer = { abortSignal };
    const write = { TableName: table, ReturnValuesOnConditionCheckFailure: "ALL_OLD" } as const;
    const get = async (key: RowKey): Promise<Item | undefined> => {
      const command = new GetItemCommand({ TableName: table, Key: toKey(key), ConsistentRead: true });
      return (await client.send(command, answer).catch(refuse)).Item;
    };
    /** @param attempt of a write that leaves an item behind */
    const conditional = async (
      key: RowKey,
      sent: Promise<{ readonly Attributes?: Item | undefined }>,
      attempt?: string,
    ): Promise<Written> => {
      try {
        return { written: true, item: (await sent).Attributes };
      } catch (error) {
        if (!isFailedCondition(error)) return refuse(error);
        // Some engines leave the item out of their response, and all do when it does not exist.
        const item = error.Item ?? (await get(key));
        if (attempt === undefined) return { written: item === undefined && retries.isInDoubt(error), item };
        return { written: isOwnAttempt(item, attempt), item };
      }
    };
    return {
      get,
      put: async (item: Item, expressions: Expressions, attempt: string): Promise<Written> => {
        const command = new PutItemCommand({ ...write, Item: toSdk(item), ...partsOf(expressions) });
        return conditional(itemKeyOf(item), client.send(command, answer), attempt);
      },
      /**
       * @param attempt set by the expressions as the item's `attempt`
       * @param returns whether a write returns the item as it now stands
       */
      update: async (key: RowKey, expressions: Expressions, attempt: string, returns: "ALL_NEW" | "NONE") => {
        const parts = { ...partsOf(expressions), ReturnValues: returns };
        const command = new UpdateItemCommand({ ...write, Key: toKey(key), ...parts });
        return conditional(key, client.send(command, answer), attempt);
      },
      delete: async (key: RowKey, expressions: Expressions = {}): Promise<Written> => {
        const command = new DeleteItemCommand({ ...write, Key: toKey(key), ...partsOf(expressions) });
        return conditional(key, client.send(command, answer));
      },
      /** Every item of the partition, by `sk`. */
      query: async (pk: string): Promise<readonly Item[]> => {
        const found: Item[] = [];
        let after: Record<string, AttributeValue> | undefined;
        do {
          const command = new QueryCommand({
            TableName: table,
            KeyConditionExpression: "#pk = :pk",
            ExpressionAttributeNames: { "#pk": "pk" },
            ExpressionAttributeValues: { ":pk": { S: pk } },
            ConsistentRead: true,
            ExclusiveStartKey: after,
          });
          const page = await client.send(command, answer).catch(refuse);
          found.push(...(page.Items ?? []));
          after = page.LastEvaluatedKey;
        } while (after !== undefined);
        return found;
      },
      scan: async (limit: number, after?: RowKey) => {
        const command = new ScanCommand({
          TableName: table,
          Limit: limit,
          ConsistentRead: true,
          ExclusiveStartKey: after === undefined ? undefined : toKey(after),
        });
        const { Items: items = [], LastEvaluatedKey: last } = await client.send(command, answer).catch(refuse);
        return { items, last };
      },
    };
  };
  const refuse = (error: unknown): never => {
    throw fromDynamoError(error, options);
  };
  /** @throws OAuthError temporarily_unavailable; TokenStoreError too_large */
  const call = async <T>(work: (items: ReturnType<typeof itemsWith>) => Promise<T>): Promise<T> =>
    calls.run((abortSignal) => work(itemsWith(abortSignal)));

  return {
    call,
    ping: async (): Promise<void> => {
      await call((items) => items.update(PING, {}, newAttempt(), "NONE"));
    },
    close: async (): Promise<void> => {
      calls.close();
      client.destroy();
    },
  };
}

function isFailedCondition(error: unknown): error is Error & { readonly Item?: Item } {
  return error instanceof Error && error.name === "ConditionalCheckFailedException";
}

function toKey({ pk, sk }: RowKey): Record<string, AttributeValue> {
  return { pk: { S: pk }, sk: { S: sk } };
}

function toSdk(item: Item): Record<string, AttributeValue> {
  return item as Record<string, AttributeValue>;
}

function partsOf({ ExpressionAttributeValues: values, ...others }: Expressions) {
  return values === undefined ? others : { ...others, ExpressionAttributeValues: toSdk(values) };
}
