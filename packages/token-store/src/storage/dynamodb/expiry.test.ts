/** DynamoDB deletes expired items up to days late. They must count as absent until then. */
import { DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { RecordStore } from "@oauth-broker/oauth-core";
import { startDynamoDb } from "@oauth-broker/simulators/aws";
import type { DynamoDbEngine } from "@oauth-broker/simulators/aws";
import { dynamodbRecordStore } from "./record-store.ts";
import { PATIENT } from "../../testing/aws/deadline.ts";

const NOW = 1_700_000_000;
const TWO_DAYS = 48 * 3600;
const KEY = { kind: "code", id: "c1" };

let engine: DynamoDbEngine;
let client: DynamoDBClient;
let store: RecordStore;
beforeAll(async () => {
  engine = await startDynamoDb();
  const { endpoint, region } = engine;
  const table = await engine.createTable();
  client = new DynamoDBClient({ endpoint, region });
  store = dynamodbRecordStore({ table, region, endpoint, ...PATIENT, now: () => NOW });
  const Item = {
    pk: { S: `RECORD#${KEY.id}` },
    sk: { S: `KIND#${KEY.kind}` },
    stage: { S: "live" },
    expires_at: { N: String(NOW - TWO_DAYS) },
    ttl: { N: String(NOW - TWO_DAYS) },
    attempt: { S: "of-a-write-long-ago" },
    data: { M: { code: { S: "c1" } } },
  };
  await client.send(new PutItemCommand({ TableName: table, Item }));
});
afterAll(async () => {
  await store.close();
  client.destroy();
  await engine.close();
});

it("refuses a record 48 hours past its expiry that is not deleted yet, by every path", async () => {
  const from = { stage: "live", expect: { code: "c1" } };
  expect(await store.get(KEY)).toBeUndefined();
  const revived = { stage: "used", set: {}, expiresAt: NOW + 60 };
  for (const patch of [{ stage: "used", set: {} }, revived])
    expect(await store.advance(KEY, from, patch)).toEqual({ outcome: "absent" });
  const back = await store.advance(KEY, { stage: "used", expect: {} }, { stage: "live", set: {} });
  expect(back).toEqual({ outcome: "absent" });
  expect((await store.get(KEY, { includeExpired: true }))?.stage).toBe("live");
  const fresh = { key: KEY, stage: "new", data: { code: "c2" }, expiresAt: NOW + 60 };
  expect(await store.create(fresh)).toBe("created");
  expect(await store.create(fresh)).toBe("exists");
  expect(await store.get(KEY)).toEqual({ ...fresh, keepUntil: NOW + 60 });
});
