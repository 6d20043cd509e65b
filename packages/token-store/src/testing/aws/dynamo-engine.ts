import { type AttributeValue, DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { shared } from "@oauth-broker/oauth-core/testing";
import { type DynamoDbEngine, startDynamoDb } from "@oauth-broker/simulators/aws";
import type { DynamoDbOptions } from "../../storage/dynamodb/table.ts";
import { PATIENT } from "./deadline.ts";

/** An engine for the tests of the file that calls it. It is in their process, and their machine may be busy. */
export function dynamoEngine(): {
  readonly engine: DynamoDbEngine;
  /** @returns the options of a new table, which goes with the engine */
  newTable(): Promise<DynamoDbOptions>;
} {
  const engine = shared(startDynamoDb);
  return {
    engine,
    newTable: async () => {
      const { endpoint, region } = engine;
      return { table: await engine.createTable(), region, endpoint, ...PATIENT };
    },
  };
}

/** Writes an item as another program would. */
export async function putItem(options: DynamoDbOptions, item: Record<string, AttributeValue>): Promise<void> {
  const client = new DynamoDBClient(options);
  await client.send(new PutItemCommand({ TableName: options.table, Item: item }));
  client.destroy();
}
