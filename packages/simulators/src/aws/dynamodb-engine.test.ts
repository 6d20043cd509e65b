import { request } from "node:http";
import { shared } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { callAwsJson } from "./aws-json.ts";
import { startDynamoDb } from "./dynamodb-engine.ts";

const engine = shared(startDynamoDb);

const call = (operation: string, input: object) =>
  callAwsJson({ endpoint: engine.endpoint, service: "dynamodb", region: engine.region, operation, input });
const key = (sk: string) => ({ pk: { S: "p" }, sk: { S: sk } });

describe("startDynamoDb", () => {
  it("makes tables of pk and sk under names of their own", async () => {
    const [one, other] = await Promise.all([engine.createTable(), engine.createTable()]);
    await call("PutItem", { TableName: one, Item: { ...key("a"), n: { N: "1" } } });
    expect(await engine.items(one)).toEqual([{ ...key("a"), n: { N: "1" } }]);
    expect(await engine.items(other)).toEqual([]);
  });

  it("lists every item of a table that is longer than one page", async () => {
    const table = await engine.createTable();
    const big = { S: "x".repeat(300_000) };
    for (let i = 0; i < 8; i += 1) await call("PutItem", { TableName: table, Item: { ...key(`${i}`), big } });
    expect(await engine.items(table)).toHaveLength(8);
  });

  it("lets one of many conditional writes through", async () => {
    const table = await engine.createTable();
    const write = (value: number) =>
      call("PutItem", {
        TableName: table,
        Item: { ...key("a"), value: { N: `${value}` } },
        ConditionExpression: "attribute_not_exists(pk)",
      }).then(
        () => "written",
        (error: Error) => error.name,
      );
    const outcomes = await Promise.all(Array.from({ length: 50 }, (_, value) => write(value)));
    expect(outcomes.filter((outcome) => outcome === "written")).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === "ConditionalCheckFailedException")).toHaveLength(49);
  });

  it("deletes a table, and its name is free again", async () => {
    const table = await engine.createTable();
    await engine.deleteTable(table);
    await expect(engine.items(table)).rejects.toMatchObject({ name: "ResourceNotFoundException" });
    await expect(engine.deleteTable(table)).rejects.toMatchObject({ name: "ResourceNotFoundException" });
    expect(await engine.createTable(table)).toBe(table);
  });

  it("survives a client that leaves in the middle of its request", async () => {
    const table = await engine.createTable();
    for (const body of ['{"TableName":', JSON.stringify({ TableName: table })]) {
      await new Promise<void>((resolve) => {
        const sent = request(engine.endpoint, { method: "POST", headers: { "content-length": body.length + 1 } });
        sent.on("error", () => resolve());
        sent.write(body, () => sent.destroy(new Error("gone")));
      });
    }
    expect(await engine.items(table)).toEqual([]);
  });

  it("ends with requests still in the air", async () => {
    const short = await startDynamoDb();
    const table = await short.createTable();
    const calls = Array.from({ length: 20 }, () => short.items(table).catch(() => []));
    await short.close();
    expect(await Promise.all(calls)).toHaveLength(20);
  });
});

it("a shared engine is used where it runs, and cleaned up afterwards", async () => {
  const guest = await startDynamoDb({ sharedEndpoint: engine.endpoint });
  const table = await guest.createTable();
  expect(await engine.items(table)).toEqual([]);
  await guest.close();
  await expect(engine.items(table)).rejects.toMatchObject({ name: "ResourceNotFoundException" });
});
