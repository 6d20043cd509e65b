/**
 * By plain fetch. With the SDK's own retries: packages/token-store/src/storage/dynamodb/faults.test.ts.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { ofEachTest, shared } from "@oauth-broker/oauth-core/testing";
import { beforeEach, describe, expect, it } from "vitest";
import { callAwsJson } from "../aws-json.ts";
import { startDynamoDb } from "../dynamodb-engine.ts";
import { startKms } from "../kms/server.ts";
import { startFaultProxy, type FaultProxy } from "./fault-proxy.ts";

let table: string;
const engine = shared(startDynamoDb);
beforeEach(async () => {
  table = await engine.createTable();
});
const proxy = ofEachTest(() => startFaultProxy({ target: engine.endpoint }));

const call = (operation: string, input: object, through: FaultProxy = proxy) =>
  callAwsJson({
    endpoint: through.endpoint,
    service: "dynamodb",
    region: "eu-west-1",
    operation,
    input: { TableName: table, ...input },
  });
const item = (sk: string) => ({ pk: { S: "p" }, sk: { S: sk } });
const put = (sk: string) => call("PutItem", { Item: item(sk) });
const create = (sk: string) => call("PutItem", { Item: item(sk), ConditionExpression: "attribute_not_exists(pk)" });
const get = (sk: string) => call("GetItem", { Key: item(sk) });
/** @returns "done", the AWS error's name, or the connection's */
const outcome = (made: Promise<unknown>): Promise<string> =>
  made.then(
    () => "done",
    (error: Error & { cause?: { code?: string } }) => error.cause?.code ?? error.name,
  );

describe("startFaultProxy", () => {
  it("forwards everything without faults", async () => {
    await put("a");
    expect(await get("a")).toEqual({ Item: item("a") });
    expect(await outcome(create("a"))).toBe("ConditionalCheckFailedException");
    expect(proxy.counts()).toEqual({
      calls: { PutItem: 2, GetItem: 1 },
      forwarded: 3,
      throttled: 0,
      failed: 0,
      reset: 0,
      hung: 0,
      lost: 0,
    });
  });

  it("throttles in both of DynamoDB's ways, and the engine sees nothing of it", async () => {
    proxy.set({ throttleRate: 1 });
    expect(await outcome(put("a"))).toBe("ProvisionedThroughputExceededException");
    expect(await outcome(put("a"))).toBe("ThrottlingException");
    expect(proxy.counts()).toMatchObject({ throttled: 2, forwarded: 0 });
    proxy.set({ errorRate: 1 });
    expect(await outcome(put("a"))).toBe("InternalServerError");
    expect(proxy.counts()).toMatchObject({ failed: 1, forwarded: 0 });
    expect(await engine.items(table)).toEqual([]);
    proxy.set({});
    expect(await outcome(put("a"))).toBe("done");
  });

  it("does the same to the same requests in every run", async () => {
    const run = async (): Promise<string[]> => {
      const other = await startFaultProxy({ target: engine.endpoint });
      other.set({ throttleRate: 0.3, errorRate: 0.1 });
      const outcomes: string[] = [];
      for (let i = 0; i < 60; i += 1) outcomes.push(await outcome(call("GetItem", { Key: item("a") }, other)));
      await other.close();
      return outcomes;
    };
    const first = await run();
    const share = (name: RegExp): number => first.filter((text) => name.test(text)).length / first.length;
    expect(share(/Throttl|Throughput/)).toBeGreaterThan(0.2);
    expect(share(/Throttl|Throughput/)).toBeLessThan(0.4);
    expect(share(/Internal/)).toBeGreaterThan(0.02);
    expect(await run()).toEqual(first);
  });

  it("resets every connection while it is down, open ones too", async () => {
    proxy.set({ hangMs: 30_000 });
    const held = outcome(put("a"));
    await expect.poll(() => proxy.counts().hung).toBe(1);
    proxy.set({ down: true });
    expect(await held).toMatch(/ECONNRESET|UND_ERR_SOCKET/);
    expect(await outcome(put("a"))).toMatch(/ECONNRESET|UND_ERR_SOCKET/);
    expect(proxy.counts().reset).toBeGreaterThan(1);
    proxy.set({});
    expect(await outcome(put("b"))).toBe("done");
    expect(await engine.items(table)).toEqual([item("b")]);
  });

  it("holds a request, and drops it when the client has left", async () => {
    proxy.set({ hangMs: 100 });
    const started = performance.now();
    expect(await outcome(put("a"))).toBe("done");
    expect(performance.now() - started).toBeGreaterThan(90);
    proxy.set({ hangMs: 1000 });
    const client = new AbortController();
    const left = fetch(proxy.endpoint, { method: "POST", body: "{}", signal: client.signal });
    await expect.poll(() => proxy.counts().hung, { interval: 10 }).toBe(2);
    client.abort();
    await expect(left).rejects.toMatchObject({ name: "AbortError" });
    await sleep(1100);
    expect(proxy.counts()).toMatchObject({ hung: 2, forwarded: 1 });
  });
});

describe("a lost answer", () => {
  it("is that of each conditional write's first success; the retry passes", async () => {
    proxy.set({ loseAnswers: "conditional-writes-once" });
    expect(await outcome(create("a"))).toBe("ECONNRESET");
    expect(await engine.items(table)).toEqual([item("a")]);
    expect(await outcome(create("a"))).toBe("ConditionalCheckFailedException");
    expect(await outcome(create("b"))).toBe("ECONNRESET");
    const touch = { Key: item("b"), UpdateExpression: "SET n = :n", ExpressionAttributeValues: { ":n": { N: "1" } } };
    expect(await outcome(call("UpdateItem", touch))).toBe("done");
    const claim = { ...touch, ConditionExpression: "attribute_exists(pk)" };
    expect([await outcome(call("UpdateItem", claim)), await outcome(call("UpdateItem", claim))]).toEqual([
      "ECONNRESET",
      "done",
    ]);
    expect(await outcome(put("c"))).toBe("done");
    expect(await outcome(get("c"))).toBe("done");
    expect(proxy.counts()).toMatchObject({ lost: 3, forwarded: 8 });
  });

  it("is that of a write's success, not of its refusal", async () => {
    await create("a");
    proxy.set({ loseAnswers: "conditional-writes-once" });
    expect(await outcome(create("a"))).toBe("ConditionalCheckFailedException");
    await call("DeleteItem", { Key: item("a") });
    expect(await outcome(create("a"))).toBe("ECONNRESET");
  });

  it("is every answer, with `all`", async () => {
    proxy.set({ loseAnswers: "all" });
    for (const sk of ["a", "a", "b"]) expect(await outcome(put(sk))).toBe("ECONNRESET");
    expect(await engine.items(table)).toHaveLength(2);
    expect(proxy.counts().lost).toBe(3);
  });
});

it("an engine that is gone is missed as if the proxy were not there", async () => {
  const gone = await startKms();
  await gone.close();
  const other = await startFaultProxy({ target: gone.endpoint });
  expect(await outcome(call("GetItem", { Key: item("a") }, other))).toMatch(/ECONNRESET|UND_ERR_SOCKET/);
  await other.close();
});
