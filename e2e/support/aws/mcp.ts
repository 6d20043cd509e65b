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

export type TableHand = ReturnType<typeof openTable>;
/** Bypasses the proxy, as an attacker with write access or a broken migration would. */
export function openTable({
  engine,
  table,
}: {
  readonly engine: Pick<AwsHarness["engine"], "endpoint" | "region">;
  readonly table: string;
}) {
  const client = new DynamoDBClient({
    endpoint: engine.endpoint,
    region: engine.region,
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
  });
  return {
    /** The item of a user's tokens, at any vendor. */
    tokensOf: async (user: string): Promise<Item> => {
      const { Items: items = [] } = await client.send(new ScanCommand({ TableName: table, ConsistentRead: true }));
      const found = items.find(({ pk, sk }) => pk?.S === `USER#${user}` && sk?.S?.startsWith("VENDOR#") === true);
      if (found === undefined) throw new Error("the user has no tokens in the table");
      return found;
    },
    /** Changes a text attribute of it. */
    change: async (
      { pk, sk, ...attributes }: Item,
      attribute: string,
      change: (value: string) => string,
    ): Promise<void> => {
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
    /** Restores it. */
    put: async (item: Item) => void (await client.send(new PutItemCommand({ TableName: table, Item: item }))),
    close: () => client.destroy(),
  };
}
