import { DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startDynamoDb } from "@oauth-broker/simulators/aws";
import type { DynamoDbEngine } from "@oauth-broker/simulators/aws";
import { dynamodbRecordStore } from "./record-store.ts";
import { describeTokenRows } from "../../testing/rows/contract.ts";
import { dynamodbTokenRows } from "./token-rows.ts";
import { PATIENT } from "../../testing/aws/deadline.ts";

const KEY = { pk: "USER#u1", sk: "VENDOR#github" };
const ITEM_KEY = { pk: { S: KEY.pk }, sk: { S: KEY.sk } };

/** The engine is in this process, and the machine may be busy: a race is not a test of time. */

let engine: DynamoDbEngine;
beforeAll(async () => {
  engine = await startDynamoDb();
});
afterAll(() => engine.close());

const open = (table: string): ReturnType<typeof dynamodbTokenRows> =>
  dynamodbTokenRows({ table, region: engine.region, endpoint: engine.endpoint, ...PATIENT });

describeTokenRows("dynamodb", async () => {
  const table = await engine.createTable();
  const rows = open(table);
  // Tables go with the engine.
  return { rows, dispose: () => rows.close() };
});

describe("token rows in a DynamoDB table that others write too", () => {
  async function withTable(
    test: (table: string, put: (item: Record<string, AttributeValue>) => Promise<unknown>) => Promise<void>,
  ): Promise<void> {
    const table = await engine.createTable();
    const client = new DynamoDBClient({ region: engine.region, endpoint: engine.endpoint });
    try {
      await test(table, (Item) => client.send(new PutItemCommand({ TableName: table, Item })));
    } finally {
      client.destroy();
    }
  }

  it("show strings and numbers, and leave attributes of other types as they are", () =>
    withTable(async (table, put) => {
      const foreign = {
        flag: { BOOL: true },
        nothing: { NULL: true },
        bytes: { B: new Uint8Array([1, 2]) },
        names: { SS: ["a", "b"] },
        list: { L: [{ S: "a" }] },
        map: { M: { a: { N: "1" } } },
      };
      await put({ ...ITEM_KEY, access_token: { S: "a1" }, expires_at: { N: "1700000000" }, ...foreign });
      const rows = open(table);
      expect(await rows.get(KEY)).toEqual({
        key: KEY,
        attributes: { access_token: "a1", expires_at: 1_700_000_000 },
      });
      expect(await rows.change(KEY, { set: { version: 1 } }, { flag: undefined })).toBe("written"); // not shown = not there
      expect(await rows.change(KEY, { set: { version: 1 } }, { access_token: "a1" })).toBe("written");
      const [item] = await engine.items(table);
      expect(item).toEqual({
        ...ITEM_KEY,
        access_token: { S: "a1" },
        expires_at: { N: "1700000000" },
        ...foreign,
        bytes: { B: "AQI=" },
        version: { N: "1" },
        attempt: { S: expect.any(String) },
      });
      expect((await rows.get(KEY))?.attributes).not.toHaveProperty("attempt");
      await rows.close();
    }));

  it("appear in a scan beside what else the table holds", () =>
    withTable(async (table) => {
      const rows = open(table);
      const { endpoint, region } = engine;
      const records = dynamodbRecordStore({ table, region, endpoint, now: () => 1_700_000_000 });
      await records.create({ key: { kind: "flow", id: "f1" }, stage: "s", data: {}, expiresAt: 1_700_000_060 });
      await rows.change(KEY, { set: { version: 1 } }, {});
      await rows.ping();
      const { rows: found } = await rows.scan({ limit: 10 });
      expect(found.toSorted((a, b) => (a.key.pk < b.key.pk ? -1 : 1))).toEqual([
        { key: { pk: "PING", sk: "PING" }, attributes: {} },
        { key: { pk: "RECORD#f1", sk: "KIND#flow" }, attributes: expect.objectContaining({ stage: "s" }) },
        { key: KEY, attributes: { version: 1 } },
      ]);
      await records.close();
      await rows.close();
    }));

  it("bar#TS-16 refuse what is larger than an item may be, and keep the row", () =>
    withTable(async (table) => {
      const rows = open(table);
      await rows.change(KEY, { set: { version: 1 } }, {});
      const large = { set: { access_token: "x".repeat(410_000) } };
      await expect(rows.change(KEY, large, {})).rejects.toMatchObject({ name: "TokenStoreError", code: "too_large" });
      expect(await rows.get(KEY)).toEqual({ key: KEY, attributes: { version: 1 } });
      await rows.close();
    }));
});
