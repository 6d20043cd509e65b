/**
 * The fault proxy of the simulators, as the SDK's real client sees it, with the SDK's own retries.
 */
import {
  DynamoDBClient,
  DynamoDBServiceException,
  GetItemCommand,
  PutItemCommand,
  type DynamoDBClientConfig,
} from "@aws-sdk/client-dynamodb";
import { startDynamoDb, startFaultProxy, type DynamoDbEngine, type FaultProxy } from "@oauth-broker/simulators/aws";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";

let engine: DynamoDbEngine;
let TableName: string;
let proxy: FaultProxy;
const clients: DynamoDBClient[] = [];
beforeAll(async () => {
  engine = await startDynamoDb();
});
afterAll(() => engine.close());
beforeEach(async () => {
  TableName = await engine.createTable();
  proxy = await startFaultProxy({ target: engine.endpoint });
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  await proxy.close();
});

function client(options: DynamoDBClientConfig = {}): DynamoDBClient {
  const made = new DynamoDBClient({ endpoint: proxy.endpoint, region: engine.region, ...options });
  clients.push(made);
  return made;
}
const key = (sk: string) => ({ pk: { S: "p" }, sk: { S: sk } });
const create = (from: DynamoDBClient, sk: string) =>
  from.send(new PutItemCommand({ TableName, Item: key(sk), ConditionExpression: "attribute_not_exists(pk)" }));
const failure = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => "no failure",
    (error: unknown) => error,
  );

describe("the fault proxy under the SDK", () => {
  it("loses the answer of a conditional write; the SDK's own retry then finds its own item", async () => {
    proxy.set({ loseAnswers: "conditional-writes-once" });
    const from = client();
    const error = await failure(create(from, "a"));
    expect(error).toMatchObject({ name: "ConditionalCheckFailedException", $metadata: { attempts: 2 } });
    expect(proxy.counts()).toMatchObject({ calls: { PutItem: 2 }, forwarded: 2, lost: 1 });
    expect(
      (await from.send(new GetItemCommand({ TableName, Key: key("a"), ConsistentRead: true }))).Item,
    ).toBeDefined();
  });

  it.each([{ throttleRate: 1 }, { errorRate: 1 }])(
    "%j is tried again by the SDK, and passes once it is over",
    async (faults) => {
      proxy.set(faults);
      const writing = create(client({ maxAttempts: 5 }), "a");
      const injected = () => proxy.counts().throttled + proxy.counts().failed;
      await expect.poll(injected, { interval: 1 }).toBeGreaterThan(0);
      proxy.set({});
      expect((await writing).$metadata.attempts).toBe(2);
      expect(proxy.counts()).toMatchObject({ calls: { PutItem: 2 }, forwarded: 1 });
    },
  );

  it.each([
    [{ throttleRate: 1 }, /^(ProvisionedThroughputExceeded|Throttling)Exception$/, 400],
    [{ errorRate: 1 }, /^InternalServerError$/, 500],
  ])("%j is an error of the service once the attempts are used up", async (faults, name, status) => {
    proxy.set(faults);
    const error = await failure(create(client({ maxAttempts: 2 }), "a"));
    expect(error).toBeInstanceOf(DynamoDBServiceException);
    expect(error).toMatchObject({
      name: expect.stringMatching(name) as string,
      $metadata: { attempts: 2, httpStatusCode: status },
    });
  });

  it("is a broken connection while it is down, and well again at once", async () => {
    const from = client({ maxAttempts: 2 });
    await create(from, "a");
    proxy.set({ down: true });
    expect(await failure(create(from, "b"))).toMatchObject({ code: "ECONNRESET" });
    proxy.set({});
    await create(from, "c");
    expect(await engine.items(TableName)).toHaveLength(2);
  });
});
