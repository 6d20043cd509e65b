/** Direct access to the table of an MCP server. */
import {
  DynamoDBClient,
  PutItemCommand,
  ScanCommand,
  type AttributeValue,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import type { AwsHarness } from "./aws.ts";

type Item = Record<string, AttributeValue>;

export interface TableHand {
  /** The item of a user's tokens, at any vendor. */
  tokensOf(user: string): Promise<Item>;
  /** Changes a text attribute of it. */
  change(item: Item, attribute: string, change: (value: string) => string): Promise<void>;
  /** Restores it. */
  put(item: Item): Promise<void>;
  close(): void;
}

/** Bypasses the proxy, as an attacker with write access or a broken migration would. */
export function openTable({
  engine,
  table,
}: {
  readonly engine: Pick<AwsHarness["engine"], "endpoint" | "region">;
  readonly table: string;
}): TableHand {
  const client = new DynamoDBClient({
    endpoint: engine.endpoint,
    region: engine.region,
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
  });
  return {
    tokensOf: async (user) => {
      const { Items: items = [] } = await client.send(new ScanCommand({ TableName: table, ConsistentRead: true }));
      const found = items.find(({ pk, sk }) => pk?.S === `USER#${user}` && sk?.S?.startsWith("VENDOR#") === true);
      if (found === undefined) throw new Error("the user has no tokens in the table");
      return found;
    },
    change: async ({ pk, sk, ...attributes }, attribute, change) => {
      await client.send(
        new UpdateItemCommand({
          TableName: table,
          Key: { pk: pk!, sk: sk! },
          UpdateExpression: "SET #attribute = :value",
          ExpressionAttributeNames: { "#attribute": attribute },
          ExpressionAttributeValues: { ":value": { S: change(attributes[attribute]?.S ?? "") } },
        }),
      );
    },
    put: async (item) => void (await client.send(new PutItemCommand({ TableName: table, Item: item }))),
    close: () => client.destroy(),
  };
}
