import type { ChildProcess } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startDynamoDb } from "@oauth-broker/simulators/aws";
import type { DynamoDbEngine } from "@oauth-broker/simulators/aws";
import { volume } from "@oauth-broker/oauth-core/testing";
import { orderAll, startProcesses, stopProcess } from "../../testing/processes.ts";
import { RACE_NOW } from "../../testing/rows/record-racer.ts";
import type { Order, Tally } from "../../testing/rows/record-racer.ts";
import { dynamodbRecordStore } from "./record-store.ts";
import type { DynamoDbOptions } from "./table.ts";
import { PATIENT } from "../../testing/aws/deadline.ts";

const PROCESSES = 2;
const ROUNDS = 4;
const CALLS = volume({ test: 10, soak: 25 });

let engine: DynamoDbEngine;
let options: DynamoDbOptions;
let children: ChildProcess[] = [];
beforeAll(async () => {
  engine = await startDynamoDb();
  const { endpoint, region } = engine;
  // The engine serves both, and this machine may be busy: a race is not a test of time.
  options = { table: await engine.createTable(), region, endpoint, deadlineMs: PATIENT.deadlineMs };
  children = await startProcesses("./rows/record-racer.ts", [JSON.stringify(options)], PROCESSES);
});
afterAll(async () => {
  await Promise.all(children.map((child) => stopProcess(child)));
  await engine.close();
});

async function order(what: Order): Promise<Tally> {
  const total: Record<string, number> = {};
  for (const tally of await orderAll<Tally>(children, what)) {
    for (const [outcome, count] of Object.entries(tally)) total[outcome] = (total[outcome] ?? 0) + count;
  }
  return total;
}

describe("several processes on one DynamoDB table", () => {
  it(
    "bar#CB-3 two processes, many parallel uses each: exactly one wins, every round",
    { timeout: 120_000 },
    async () => {
      expect(await order({ what: "open" })).toEqual({ open: PROCESSES });
      const store = dynamodbRecordStore({ ...options, ...PATIENT, now: () => RACE_NOW });
      const winners = new Set<unknown>();
      for (let round = 0; round < ROUNDS; round += 1) {
        const key = { kind: "code", id: `round ${round}` };
        children.push(...children.splice(0, 1)); // or the one that gets its order first would win every time
        const created = await order({ what: "create", key, times: CALLS });
        expect(created, `round ${round}`).toEqual({ created: 1, exists: PROCESSES * CALLS - 1 });
        const advanced = await order({ what: "advance", key, times: CALLS });
        expect(advanced, `round ${round}`).toEqual({ moved: 1, replayed: PROCESSES * CALLS - 1 });
        winners.add((await store.get(key))?.data["by"]);
      }
      await store.close();
      expect(winners.size).toBeGreaterThan(1);
    },
  );
});
