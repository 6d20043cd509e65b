import { afterAll, beforeAll } from "vitest";
import { describeRecordStore } from "@oauth-broker/oauth-core/testing";
import { startDynamoDb } from "@oauth-broker/simulators/aws";
import type { DynamoDbEngine } from "@oauth-broker/simulators/aws";
import { dynamodbRecordStore } from "./record-store.ts";
import { PATIENT } from "../../testing/aws/deadline.ts";

/** The engine is in this process, and the machine may be busy: a race is not a test of time. */

let engine: DynamoDbEngine;
beforeAll(async () => {
  engine = await startDynamoDb();
});
afterAll(() => engine.close());

describeRecordStore("dynamodb", async (now) => {
  const { endpoint, region } = engine;
  const table = await engine.createTable();
  const store = dynamodbRecordStore({ table, region, endpoint, now, ...PATIENT });
  // Tables go with the engine.
  return { store, dispose: () => store.close() };
});
