/**
 * Any sequence of calls, on DynamoDB and in memory. storage/model.test.ts does the same, and more
 * often, with SQLite.
 */
import fc from "fast-check";
import { expect, it } from "vitest";
import { anyText, fixedClock, volume } from "@oauth-broker/oauth-core/testing";
import type { JsonObject, RecordStore } from "@oauth-broker/oauth-core";
import { startDynamoDb } from "@oauth-broker/simulators/aws";
import { dynamodbRecordStore } from "./record-store.ts";
import { memoryRecordStore } from "../memory/record-store.ts";
import { PATIENT } from "../../testing/aws/deadline.ts";

const NOW = 1_700_000_000;
const KEY = { kind: "k", id: "a" };

type Step = (store: RecordStore, now: number) => Promise<unknown>;

// Few names and values, so that steps meet; any text, so that nothing depends on how text is
// escaped.
const stage = fc.constantFrom("one", "two");
const field = fc.constantFrom("code", "client");
const text = fc.oneof(fc.constantFrom("", "c1"), anyText(fc));
const json = fc.jsonValue({ maxDepth: 1 }).map((value) => JSON.parse(JSON.stringify(value)) as JsonObject[string]);
const data = fc.dictionary(field, fc.oneof(text, json), { noNullPrototype: true });
const life = fc.integer({ min: -1, max: 4 });

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({ stage, data, life, more: life }).map(
      ({ stage, data, life, more }): Step =>
        (store, now) =>
          store.create({ key: KEY, stage, data, expiresAt: now + life, keepUntil: now + life + more }),
    ),
  },
  {
    weight: 4,
    arbitrary: fc
      .record({
        from: stage,
        expected: fc.dictionary(field, text, { noNullPrototype: true, maxKeys: 1 }),
        to: stage,
        set: data,
        remove: fc.array(field, { maxLength: 2 }),
        life: fc.option(life, { nil: undefined }),
      })
      .map(({ from, expected, to, set, remove, life }): Step => (store, now) => {
        const patch = { stage: to, set, remove, ...(life === undefined ? {} : { expiresAt: now + life }) };
        return store.advance(KEY, { stage: from, expect: expected }, patch);
      }),
  },
  {
    weight: 1,
    arbitrary: fc.boolean().map(
      (includeExpired): Step =>
        (store) =>
          store.get(KEY, { includeExpired }),
    ),
  },
);

it("DynamoDB and memory give the same answer to any sequence of calls, at any time", async () => {
  const engine = await startDynamoDb();
  const { endpoint, region } = engine;
  const clock = fixedClock(NOW);
  const dynamodb = dynamodbRecordStore({ table: await engine.createTable(), region, endpoint, ...PATIENT, now: clock });
  const seen = new Set<string>();
  const outcome = async (one: Step, store: RecordStore): Promise<string> => {
    const answer = await one(store, clock()).catch((error: Error) => error.name);
    return JSON.stringify(answer) ?? "undefined";
  };
  try {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(step, fc.integer({ min: 0, max: 2 })), { maxLength: 20 }),
        async (sequence) => {
          const memory = memoryRecordStore({ now: clock });
          await dynamodb.delete(KEY);
          for (const [one, seconds] of sequence) {
            const expected = await outcome(one, memory);
            seen.add(/"outcome":"(\w+)"/.exec(expected)?.[1] ?? expected);
            // The order of fields is not guaranteed.
            expect(parsed(await outcome(one, dynamodb))).toEqual(parsed(expected));
            clock.advance(seconds);
          }
        },
      ),
      { numRuns: volume({ test: 60, soak: 150 }) },
    );
  } finally {
    await dynamodb.close();
    await engine.close();
  }
  // Otherwise the sequences above proved less than they seem to.
  for (const answer of ["moved", "replayed", "absent", '"created"', '"exists"', '"TypeError"', "undefined"]) {
    expect(seen).toContain(answer);
  }
});

function parsed(answer: string): unknown {
  return answer === "undefined" ? undefined : (JSON.parse(answer) as unknown);
}
