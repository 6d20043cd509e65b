import { ofEachTest } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { dynamodbRecordStore } from "./record-store.ts";
import { describeTokenRows } from "../../testing/rows/contract.ts";
import { dynamodbTokenRows } from "./token-rows.ts";
import { dynamoEngine, putItem } from "../../testing/aws/dynamo-engine.ts";

const KEY = { pk: "USER#u1", sk: "VENDOR#github" };
const ITEM_KEY = { pk: { S: KEY.pk }, sk: { S: KEY.sk } };

const dynamo = dynamoEngine();

describeTokenRows("dynamodb", async () => dynamodbTokenRows(await dynamo.newTable()));

describe("token rows in a DynamoDB table that others write too", () => {
  const options = ofEachTest(() => dynamo.newTable());
  const rows = ofEachTest(() => dynamodbTokenRows(options));

  it("show strings and numbers, and leave attributes of other types as they are", async () => {
    const foreign = {
      flag: { BOOL: true },
      nothing: { NULL: true },
      bytes: { B: new Uint8Array([1, 2]) },
      names: { SS: ["a", "b"] },
      list: { L: [{ S: "a" }] },
      map: { M: { a: { N: "1" } } },
    };
    const item = { ...ITEM_KEY, access_token: { S: "a1" }, expires_at: { N: "1700000000" }, ...foreign };
    await putItem(options, item);
    expect(await rows.get(KEY)).toEqual({
      key: KEY,
      attributes: { access_token: "a1", expires_at: 1_700_000_000 },
    });
    expect(await rows.change(KEY, { set: { version: 1 } }, { flag: undefined })).toBe("written"); // not shown = not there
    expect(await rows.change(KEY, { set: { version: 1 } }, { access_token: "a1" })).toBe("written");
    const [left] = await dynamo.engine.items(options.table);
    expect(left).toEqual({
      ...ITEM_KEY,
      access_token: { S: "a1" },
      expires_at: { N: "1700000000" },
      ...foreign,
      bytes: { B: "AQI=" },
      version: { N: "1" },
      attempt: { S: expect.any(String) },
    });
    expect((await rows.get(KEY))?.attributes).not.toHaveProperty("attempt");
  });

  it("appear in a scan beside what else the table holds", async () => {
    const records = dynamodbRecordStore({ ...options, now: () => 1_700_000_000 });
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
  });

  it("bar#TS-16 refuse what is larger than an item may be, and keep the row", async () => {
    await rows.change(KEY, { set: { version: 1 } }, {});
    const large = { set: { access_token: "x".repeat(410_000) } };
    await expect(rows.change(KEY, large, {})).rejects.toMatchObject({ name: "TokenStoreError", code: "too_large" });
    expect(await rows.get(KEY)).toEqual({ key: KEY, attributes: { version: 1 } });
  });
});
