import type { ChildProcess } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { volume } from "@oauth-broker/oauth-core/testing";
import { startProcesses, stopProcess } from "../../testing/processes.ts";
import { orderRacers, race, RACE_NOW } from "../../testing/rows/record-racer.ts";
import { dynamodbRecordStore } from "./record-store.ts";
import type { DynamoDbOptions } from "./table.ts";
import { dynamoEngine } from "../../testing/aws/dynamo-engine.ts";

const PROCESSES = 2;
const ROUNDS = 4;
const CALLS = volume({ test: 10, soak: 25 });

const dynamo = dynamoEngine();
let options: DynamoDbOptions;
let children: ChildProcess[] = [];
beforeAll(async () => {
  options = await dynamo.newTable();
  children = await startProcesses("./rows/record-racer.ts", [JSON.stringify(options)], PROCESSES);
});
afterAll(() => Promise.all(children.map((child) => stopProcess(child))));

describe("several processes on one DynamoDB table", () => {
  it(
    "bar#CB-3 two processes, many parallel uses each: exactly one wins, every round",
    { timeout: 120_000 },
    async () => {
      expect(await orderRacers(children, { what: "open" })).toEqual({ open: PROCESSES });
      const store = dynamodbRecordStore({ ...options, now: () => RACE_NOW });
      const others = PROCESSES * CALLS - 1;
      const round = { created: { created: 1, exists: others }, advanced: { moved: 1, replayed: others }, isOwn: true };
      expect(await race(children, { store, rounds: ROUNDS, times: CALLS })).toEqual(
        Array.from({ length: ROUNDS }, () => round),
      );
    },
  );
});
