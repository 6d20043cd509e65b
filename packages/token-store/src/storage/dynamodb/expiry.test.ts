/** DynamoDB deletes expired items up to days late. They must count as absent until then. */
import { DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RecordStore } from "@oauth-broker/oauth-core";
import { volume } from "@oauth-broker/oauth-core/testing";
import { startDynamoDb } from "@oauth-broker/simulators/aws";
import type { DynamoDbEngine } from "@oauth-broker/simulators/aws";
import { dynamodbRecordStore } from "./record-store.ts";
import { PATIENT } from "../../testing/aws/deadline.ts";

const NOW = 1_700_000_000;
const TWO_DAYS = 48 * 3600;
const KINDS = ["flow", "code", "assertion", "refresh", "session", "grace", "journal"];
const PER_KIND = volume({ test: 3, soak: 20 });

let engine: DynamoDbEngine;
let client: DynamoDBClient;
let store: RecordStore;
beforeAll(async () => {
  engine = await startDynamoDb();
  const { endpoint, region } = engine;
  const table = await engine.createTable();
  client = new DynamoDBClient({ endpoint, region });
  store = dynamodbRecordStore({ table, region, endpoint, ...PATIENT, now: () => NOW });
  for (const kind of KINDS) {
    for (let at = 0; at < PER_KIND; at += 1) {
      const Item = {
        pk: { S: `RECORD#${at}` },
        sk: { S: `KIND#${kind}` },
        stage: { S: "live" },
        expires_at: { N: String(NOW - TWO_DAYS) },
        ttl: { N: String(NOW - TWO_DAYS) },
        attempt: { S: "of-a-write-long-ago" },
        data: { M: { code: { S: "c1" } } },
      };
      await client.send(new PutItemCommand({ TableName: table, Item }));
    }
  }
});
afterAll(async () => {
  await store.close();
  client.destroy();
  await engine.close();
});

describe.each(KINDS)("%s records 48 hours past their expiry that are not deleted yet", (kind) => {
  it("are refused by every path", async () => {
    const from = { stage: "live", expect: { code: "c1" } };
    for (let at = 0; at < PER_KIND; at += 1) {
      const key = { kind, id: `${at}` };
      expect(await store.get(key)).toBeUndefined();
      expect(await store.advance(key, from, { stage: "used", set: {} })).toEqual({ outcome: "absent" });
      const revived = { stage: "used", set: {}, expiresAt: NOW + 60 };
      expect(await store.advance(key, from, revived)).toEqual({ outcome: "absent" });
      expect(await store.advance(key, { stage: "used", expect: {} }, { stage: "live", set: {} })).toEqual({
        outcome: "absent",
      });
      expect((await store.get(key, { includeExpired: true }))?.stage).toBe("live");
      const fresh = { key, stage: "new", data: { code: "c2" }, expiresAt: NOW + 60 };
      expect(await store.create(fresh)).toBe("created");
      expect(await store.create(fresh)).toBe("exists");
      expect(await store.get(key)).toEqual({ ...fresh, keepUntil: NOW + 60 });
    }
  });
});
