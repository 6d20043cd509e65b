import { afterAll, beforeAll, expect, it } from "vitest";
import { startDynamoDb } from "@oauth-broker/simulators/aws";
import type { DynamoDbEngine } from "@oauth-broker/simulators/aws";
import { compareWithSdk } from "./dynamo-bench.ts";

let engine: DynamoDbEngine;
beforeAll(async () => {
  engine = await startDynamoDb();
});
afterAll(() => engine.close());

it("compares every kind of call with the SDK's own", async () => {
  const { endpoint, region } = engine;
  const figures = await compareWithSdk({ table: await engine.createTable(), region, endpoint }, 30);
  const names = ["record get", "record create", "record advance", "row get", "row change", "as a PutItem"];
  expect(figures.map(({ name }) => name)).toEqual(names);
  for (const { bare, store, ratio } of figures) {
    expect(Math.min(bare, store)).toBeGreaterThan(0);
    expect(ratio).toBeGreaterThan(0);
  }
});
