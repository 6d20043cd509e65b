import { join } from "node:path";
import { it } from "vitest";
import { temporaryFolder, volume } from "@oauth-broker/oauth-core/testing";
import { dynamoEngine } from "../testing/aws/dynamo-engine.ts";
import { expectAnswersOfMemory } from "../testing/rows/any-steps.ts";
import { dynamodbRecordStore } from "./dynamodb/record-store.ts";
import { sqliteRecordStore } from "./sqlite/record-store.ts";

const KEYS = ["a", "b"].map((id) => ({ kind: "k", id }));
const dynamo = dynamoEngine();

it("memory and SQLite give the same answer to any sequence of calls, at any time", async () => {
  const path = join(temporaryFolder(), "records.sqlite");
  const numRuns = volume({ test: 80, soak: 1000 });
  await expectAnswersOfMemory((now) => sqliteRecordStore({ path, now }), { keys: KEYS, numRuns, maxLength: 30 });
});

it("DynamoDB and memory give the same answer to any sequence of calls, at any time", async () => {
  const options = await dynamo.newTable();
  const numRuns = volume({ test: 25, soak: 150 });
  const size = { keys: KEYS.slice(0, 1), numRuns, maxLength: 20 };
  await expectAnswersOfMemory((now) => dynamodbRecordStore({ ...options, now }), size);
});
