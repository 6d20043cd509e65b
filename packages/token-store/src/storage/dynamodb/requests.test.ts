/** The requests DynamoDB receives, recorded by a server without any state. */
import { startScriptedVendor } from "@oauth-broker/simulators";
import { ofEachTest } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { dynamodbTokenRows } from "./token-rows.ts";
import { dynamodbRecordStore } from "./record-store.ts";

const NOW = 1_700_000_000;
const READS = ["GetItem", "Query", "Scan"];

const server = ofEachTest(() => startScriptedVendor({ "*": { body: "{}" } }));
const options = () => ({ table: "tokens", region: "eu-west-1", endpoint: server.url });
const rows = ofEachTest(() => dynamodbTokenRows(options()));
const records = ofEachTest(() => dynamodbRecordStore({ ...options(), now: () => NOW }));

const seen = () =>
  server.received.map(({ headers, body }) => ({
    operation: String(headers["x-amz-target"]).replace("DynamoDB_20120810.", ""),
    input: JSON.parse(body) as Readonly<Record<string, unknown>>,
  }));

describe("requests to DynamoDB", () => {
  it("bar#TS-18 read consistently and through no index, for every caller", async () => {
    await records.get({ kind: "flow", id: "f1" });
    await rows.get({ pk: "USER#u1", sk: "VENDOR#v" });
    await rows.partition("USER#u1");
    await rows.scan({ limit: 1 });
    expect(seen().map(({ operation }) => operation)).toEqual(["GetItem", "GetItem", "Query", "Scan"]);
    for (const { input } of seen()) {
      expect(input).toMatchObject({ TableName: "tokens", ConsistentRead: true });
      expect(input).not.toHaveProperty("IndexName");
    }
  });

  it("name the condition of every write that has one, and ask for the item that failed it", async () => {
    const key = { kind: "flow", id: "f1" };
    await records.create({ key, stage: "a", data: {}, expiresAt: NOW + 60 });
    await records.advance(key, { stage: "a", expect: { code: "c" } }, { stage: "b", set: {}, expiresAt: NOW + 90 });
    await rows.change({ pk: "USER#u1", sk: "VENDOR#v" }, { set: { version: 2 } }, { version: 1, lease: undefined });
    await rows.delete({ pk: "USER#u1", sk: "VENDOR#v" }, { version: 2 });
    expect(seen().map(({ operation, input }) => [operation, input["ConditionExpression"]])).toEqual([
      ["PutItem", "attribute_not_exists(#pk) OR #expires_at <= :now"],
      ["UpdateItem", "#n0 = :v0 AND #n1 > :v1 AND #n2.#n3 = :v2 AND #n5 >= :v5"],
      [
        "UpdateItem",
        "#n0 = :v0 AND (attribute_not_exists(#n1) OR NOT (attribute_type(#n1, :v1) OR attribute_type(#n1, :v2)))",
      ],
      ["DeleteItem", "#n0 = :v0"],
    ]);
    for (const { operation, input } of seen()) {
      expect(READS).not.toContain(operation);
      expect(input["ReturnValuesOnConditionCheckFailure"]).toBe("ALL_OLD");
    }
  });

  it("are not sent before the first call, nor after the store was closed", async () => {
    await rows.close();
    await expect(rows.get({ pk: "USER#u1", sk: "VENDOR#v" })).rejects.toMatchObject({
      detail: "the store was closed",
    });
    expect(seen()).toEqual([]);
  });
});
