/**
 * The content of the table, attribute by attribute: a later release reads it, and so does an
 * operator.
 */
import { DescribeTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { describe, expect, it } from "vitest";
import { fixedClock, ofEachTest, shared } from "@oauth-broker/oauth-core/testing";
import type { JsonObject } from "@oauth-broker/oauth-core";
import { startFaultProxy } from "@oauth-broker/simulators/aws";
import { TABLE_SCHEMA } from "../../provision.ts";
import { toRecord } from "./record-items.ts";
import { dynamodbRecordStore } from "./record-store.ts";
import { dynamoEngine, putItem } from "../../testing/aws/dynamo-engine.ts";
import { dynamodbTokenRows } from "./token-rows.ts";

const NOW = 1_700_000_000;

const dynamo = dynamoEngine();
const proxy = shared(() => startFaultProxy({ target: dynamo.engine.endpoint }));
const options = ofEachTest(() => dynamo.newTable());
const store = ofEachTest(() => dynamodbRecordStore({ ...options, endpoint: proxy.endpoint, now: fixedClock(NOW) }));

/** @returns how many requests of each operation the work needed */
async function requestsOf(work: () => Promise<unknown>): Promise<Record<string, number>> {
  const before = proxy.counts().calls;
  await work();
  const after = Object.entries(proxy.counts().calls).map(([name, count]) => [name, count - (before[name] ?? 0)]);
  return Object.fromEntries(after.filter(([, count]) => count !== 0)) as Record<string, number>;
}

const KEY = { kind: "flow", id: "f1" };
const FROM = { stage: "pushed", expect: { code: "c1" } };

it("a table of the stand-in has the keys of every table", async () => {
  const client = new DynamoDBClient(options);
  const { Table: made } = await client.send(new DescribeTableCommand({ TableName: options.table }));
  client.destroy();
  const { AttributeDefinitions, KeySchema } = TABLE_SCHEMA;
  expect(made).toMatchObject({ AttributeDefinitions, KeySchema });
});

describe("a record's item", () => {
  it("has these attributes and no others", async () => {
    const data = { v: 1, code: "c1", empty: "", list: ["x"], nothing: null, half: "\ud800" };
    await store.create({ key: KEY, stage: "pushed", data, expiresAt: NOW + 60, keepUntil: NOW + 3600 });
    const item = {
      pk: { S: "RECORD#f1" },
      sk: { S: "KIND#flow" },
      stage: { S: "pushed" },
      expires_at: { N: "1700000060" },
      ttl: { N: "1700003600" },
      attempt: { S: expect.stringMatching(/^[0-9a-f-]{36}$/) },
      data: {
        M: {
          v: { M: { json: { S: "1" } } },
          code: { S: "c1" },
          empty: { S: "" },
          list: { M: { json: { S: '["x"]' } } },
          nothing: { M: { json: { S: "null" } } },
          half: { M: { json: { S: '"\\ud800"' } } },
        },
      },
    };
    expect(await dynamo.engine.items(options.table)).toEqual([item]);
    expect((await store.get(KEY))?.data).toEqual(data);
    const patch = { stage: "started", set: { more: true }, remove: ["list", "nothing", "v", "half"] };
    await store.advance(KEY, FROM, { ...patch, expiresAt: NOW + 30 });
    const left = { code: { S: "c1" }, empty: { S: "" }, more: { M: { json: { S: "true" } } } };
    expect(await dynamo.engine.items(options.table)).toEqual([
      { ...item, stage: { S: "started" }, expires_at: { N: "1700000030" }, data: { M: left } },
    ]);
  });

  it("returns numbers DynamoDB cannot store, and half a surrogate pair", async () => {
    const data = { huge: 1e300, tiny: 5e-324, half: "a\udc00", deep: { ["__proto__"]: 1, "": 2 } };
    await store.create({ key: KEY, stage: "pushed", data, expiresAt: NOW + 60 });
    expect(JSON.stringify((await store.get(KEY))?.data["deep"])).toBe('{"__proto__":1,"":2}');
    expect((await store.get(KEY))?.data).toEqual(data);
    const from = { stage: "pushed", expect: { half: "a\udc00" } };
    expect((await store.advance(KEY, from, { stage: "next", set: {} })).outcome).toBe("moved");
  });

  it.each(["", "__proto__"])("refuses a field called %j, which would be lost", async (name) => {
    const data = JSON.parse(`{${JSON.stringify(name)}:"x"}`) as JsonObject;
    const create = store.create({ key: KEY, stage: "pushed", data, expiresAt: NOW + 60 });
    await expect(create).rejects.toThrow(TypeError);
  });

  it("of another layout is refused", async () => {
    await store.create({ key: KEY, stage: "pushed", data: { code: "c1" }, expiresAt: NOW + 60 });
    const rows = dynamodbTokenRows(options);
    await rows.change({ pk: "RECORD#f1", sk: "KIND#flow" }, { set: {}, remove: ["stage"] }, {});
    await expect(store.get(KEY)).rejects.toMatchObject({ status: 503, cause: { code: "format_unknown" } });
    await rows.close();
  });

  it("bar#TS-17 with text that is no JSON is refused, and none of it is in the error", () => {
    const data = { M: { list: { M: { json: { S: "canary[" } } } } };
    const item = { stage: { S: "pushed" }, expires_at: { N: "1" }, ttl: { N: "1" }, data };
    const shown = expect.objectContaining({
      status: 503,
      detail: expect.stringMatching(/: a field of a flow record$/),
    });
    expect(() => toRecord(KEY, item)).toThrow(shown);
  });
});

describe("requests for one call", () => {
  it("one for each call that succeeds, and one more only to prolong what a record is kept for", async () => {
    const record = { key: KEY, stage: "pushed", data: { code: "c1" }, expiresAt: NOW + 60, keepUntil: NOW + 3600 };
    expect(await requestsOf(() => store.create(record))).toEqual({ PutItem: 1 });
    expect(await requestsOf(() => store.get(KEY))).toEqual({ GetItem: 1 });
    const move = (from: string, stage: string, expiresAt?: number): Promise<unknown> =>
      store.advance(
        KEY,
        { ...FROM, stage: from },
        { stage, set: {}, ...(expiresAt === undefined ? {} : { expiresAt }) },
      );
    expect(await requestsOf(() => move("pushed", "b"))).toEqual({ UpdateItem: 1 });
    expect(await requestsOf(() => move("b", "c", NOW + 3600))).toEqual({ UpdateItem: 1 });
    expect(await requestsOf(() => move("c", "d", NOW + 3601))).toMatchObject({ UpdateItem: 2 });
    expect(await store.get(KEY)).toMatchObject({ stage: "d", expiresAt: NOW + 3601, keepUntil: NOW + 3601 });
    expect(await requestsOf(() => store.ping())).toEqual({ UpdateItem: 1 });
    expect(await requestsOf(() => store.delete(KEY))).toEqual({ DeleteItem: 1 });
  });
});

// DynamoDB deletes expired items up to days late.
it("refuses a record 48 hours past its expiry that is not deleted yet, by every path", async () => {
  const over = { N: String(NOW - 48 * 3600) };
  await putItem(options, {
    pk: { S: "RECORD#f1" },
    sk: { S: "KIND#flow" },
    stage: { S: "pushed" },
    expires_at: over,
    ttl: over,
    attempt: { S: "of-a-write-long-ago" },
    data: { M: { code: { S: "c1" } } },
  });
  expect(await store.get(KEY)).toBeUndefined();
  const revived = { stage: "used", set: {}, expiresAt: NOW + 60 };
  for (const patch of [{ stage: "used", set: {} }, revived])
    expect(await store.advance(KEY, FROM, patch)).toEqual({ outcome: "absent" });
  const back = await store.advance(KEY, { stage: "used", expect: {} }, { stage: "pushed", set: {} });
  expect(back).toEqual({ outcome: "absent" });
  expect((await store.get(KEY, { includeExpired: true }))?.stage).toBe("pushed");
  const fresh = { key: KEY, stage: "new", data: { code: "c2" }, expiresAt: NOW + 60 };
  expect(await store.create(fresh)).toBe("created");
  expect(await store.create(fresh)).toBe("exists");
  expect(await store.get(KEY)).toEqual({ ...fresh, keepUntil: NOW + 60 });
});
