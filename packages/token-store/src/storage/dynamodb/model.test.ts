/**
 * Any sequence of calls, on DynamoDB and in memory. storage/model.test.ts does the same, and more
 * often, with SQLite.
 */
import fc from "fast-check";
import { expect, it } from "vitest";
import { fixedClock, volume } from "@oauth-broker/oauth-core/testing";
import { startDynamoDb } from "@oauth-broker/simulators/aws";
import { PATIENT } from "../../testing/aws/deadline.ts";
import { anyStep, kindOf, outcomeOf, OUTCOMES } from "../../testing/rows/any-steps.ts";
import { memoryRecordStore } from "../memory/record-store.ts";
import { dynamodbRecordStore } from "./record-store.ts";

const KEY = { kind: "k", id: "a" };

it("DynamoDB and memory give the same answer to any sequence of calls, at any time", async () => {
  const engine = await startDynamoDb();
  const { endpoint, region } = engine;
  const clock = fixedClock(1_700_000_000);
  const dynamodb = dynamodbRecordStore({ table: await engine.createTable(), region, endpoint, ...PATIENT, now: clock });
  const steps = fc.array(fc.tuple(anyStep(KEY), fc.integer({ min: 0, max: 2 })), { minLength: 10, maxLength: 20 });
  const seen = new Set<string>();
  try {
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        const memory = memoryRecordStore({ now: clock });
        await dynamodb.delete(KEY);
        for (const [step, seconds] of sequence) {
          const expected = await outcomeOf(step, memory, clock());
          seen.add(kindOf(expected));
          expect(await outcomeOf(step, dynamodb, clock())).toBe(expected);
          clock.advance(seconds);
        }
      }),
      { numRuns: volume({ test: 40, soak: 150 }) },
    );
  } finally {
    await dynamodb.close();
    await engine.close();
  }
  expect([...seen]).toEqual(expect.arrayContaining([...OUTCOMES]));
});
