/**
 * What the stores add to the SDK's own cost: `node packages/token-store/src/testing/dynamo-bench.ts
 * [operations]`. The source of the figures in docs/decisions/0009-dynamodb.md. Processor time of
 * this process, including garbage collection; the engine runs in its own.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { DynamoDBClient, GetItemCommand, PutItemCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import type { DynamoDbOptions } from "../storage/dynamodb/table.ts";
import { dynamodbRecordStore } from "../storage/dynamodb/record-store.ts";
import { dynamodbTokenRows } from "../storage/dynamodb/token-rows.ts";

const NOW = 1_700_000_000;
const ROUNDS = 10;

export interface Comparison {
  readonly name: string;
  /** Microseconds of processor time of one bare SDK call of the same kind and size. */
  readonly bare: number;
  /** Of one call of the store. */
  readonly store: number;
  /** Median over the rounds of store by bare. */
  readonly ratio: number;
}

type Call = (at: number) => Promise<unknown>;

async function costOf(count: number, call: Call): Promise<number> {
  const start = process.cpuUsage();
  for (let at = 0; at < count; at += 1) await call(at);
  const { user, system } = process.cpuUsage(start);
  return (user + system) / count;
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

/** Alternating, so that a busy machine affects both alike. */
async function compare(name: string, operations: number, bare: Call, store: Call): Promise<Comparison> {
  const each = Math.ceil(operations / ROUNDS);
  await costOf(each, bare);
  await costOf(each, store);
  const rounds = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    rounds.push({ bare: await costOf(each, bare), store: await costOf(each, store) });
  }
  return {
    name,
    bare: median(rounds.map(({ bare }) => bare)),
    store: median(rounds.map(({ store }) => store)),
    ratio: median(rounds.map(({ bare, store }) => store / bare)),
  };
}

/** @param operations of each kind */
export async function compareWithSdk(options: DynamoDbOptions, operations: number): Promise<Comparison[]> {
  const { table: TableName, ...connection } = options;
  const client = new DynamoDBClient({ ...connection, region: options.region });
  const records = dynamodbRecordStore({ ...options, now: () => NOW });
  const rows = dynamodbTokenRows(options);
  const data = { v: "1", client: "platform", vendor: "github", cookieHash: "c".repeat(43), state: "s".repeat(60) };
  const key = { kind: "flow", id: "f1" };
  await records.create({ key, stage: "n", data, expiresAt: NOW + 600 });
  const rowKey = { pk: "USER#u1", sk: "VENDOR#github" };
  const tokens = { access_token_sealed: "t".repeat(400), refresh_token_sealed: "r".repeat(400), expires_at: NOW };
  await rows.change(rowKey, { set: { ...tokens, version: 0 } }, {});
  const recordKey = { pk: { S: "RECORD#f1" }, sk: { S: "KIND#flow" } };
  const rowItemKey = { pk: { S: rowKey.pk }, sk: { S: rowKey.sk } };
  let stage = 0;
  let version = 0;
  const fields = Object.fromEntries(Object.entries(data).map(([name, text]) => [name, { S: text }]));
  const rowValues = (at: number) => ({
    ":a": { S: tokens.access_token_sealed },
    ":r": { S: tokens.refresh_token_sealed },
    ":e": { N: String(NOW) },
    ":v": { N: String(at) },
  });
  const changeRow = (): Promise<string> => {
    version += 1;
    return rows.change(rowKey, { set: { ...tokens, version } }, { version: version - 1 });
  };
  try {
    return [
      await compare(
        "record get",
        operations,
        () => client.send(new GetItemCommand({ TableName, Key: recordKey, ConsistentRead: true })),
        () => records.get(key),
      ),
      await compare(
        "record create",
        operations,
        (at) =>
          client.send(
            new PutItemCommand({
              TableName,
              Item: { pk: { S: `bare${at}` }, sk: { S: "s" }, stage: { S: "n" }, data: { M: fields } },
              ConditionExpression: "attribute_exists(pk) OR attribute_not_exists(pk)",
            }),
          ),
        (at) =>
          records.create({
            key: { kind: `${performance.now()}`, id: `${at}` },
            stage: "n",
            data,
            expiresAt: NOW + 600,
          }),
      ),
      await compare(
        "record advance",
        operations,
        () =>
          client.send(
            new UpdateItemCommand({
              TableName,
              Key: { pk: { S: "bare" }, sk: { S: "s" } },
              UpdateExpression: "SET #stage = :stage, #data = :data",
              ConditionExpression: "attribute_not_exists(nothing)",
              ExpressionAttributeNames: { "#stage": "stage", "#data": "data" },
              ExpressionAttributeValues: { ":stage": { S: "n" }, ":data": { M: fields } },
              ReturnValues: "ALL_NEW",
            }),
          ),
        () => {
          const from = { stage: stage === 0 ? "n" : `n${stage}`, expect: { client: "platform" } };
          stage += 1;
          return records.advance(key, from, { stage: `n${stage}`, set: { attempt: "1" } });
        },
      ),
      await compare(
        "row get",
        operations,
        () => client.send(new GetItemCommand({ TableName, Key: rowItemKey, ConsistentRead: true })),
        () => rows.get(rowKey),
      ),
      await compare(
        "row change",
        operations,
        (at) =>
          client.send(
            new UpdateItemCommand({
              TableName,
              Key: { pk: { S: "bare" }, sk: { S: "row" } },
              UpdateExpression:
                "SET access_token_sealed = :a, refresh_token_sealed = :r, expires_at = :e, version = :v",
              ConditionExpression: "attribute_not_exists(nothing)",
              ExpressionAttributeValues: rowValues(at),
            }),
          ),
        changeRow,
      ),
      await compare(
        "as a PutItem",
        operations,
        (at) => {
          const { ":a": a, ":r": r, ":e": e, ":v": v } = rowValues(at);
          const Item = { pk: { S: "bare" }, sk: { S: "row" }, access_token_sealed: a, refresh_token_sealed: r };
          return client.send(new PutItemCommand({ TableName, Item: { ...Item, expires_at: e, version: v } }));
        },
        changeRow,
      ),
    ];
  } finally {
    client.destroy();
    await records.close();
    await rows.close();
  }
}

if (import.meta.main) {
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: "test", AWS_SECRET_ACCESS_KEY: "test" });
  const engine = fork(fileURLToPath(new URL("./dynamo-bench-engine.ts", import.meta.url)), { execArgv: [] });
  try {
    const [options] = (await once(engine, "message")) as [DynamoDbOptions];
    process.stdout.write("                  bare µs    store µs       ratio\n");
    for (const { name, bare, store, ratio } of await compareWithSdk(options, Number(process.argv[2] ?? 10_000))) {
      const cells = [bare.toFixed(0), store.toFixed(0), ratio.toFixed(2)].map((cell) => cell.padStart(12)).join("");
      process.stdout.write(`${name.padEnd(14)}${cells}\n`);
    }
  } finally {
    engine.disconnect();
  }
}
