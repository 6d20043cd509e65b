/** Any sequence of calls to a record store, to compare two stores. */
import fc from "fast-check";
import { expect } from "vitest";
import { anyText, fixedClock } from "@oauth-broker/oauth-core/testing";
import type { Clock, JsonObject, JsonValue, RecordKey, RecordStore } from "@oauth-broker/oauth-core";
import { canonicalJson } from "../../crypto/canonical-json.ts";
import { memoryRecordStore } from "../../storage/memory/record-store.ts";

/** A call, made at a time in seconds. */
type Step = (store: RecordStore, now: number) => Promise<unknown>;

/** Each has to come about, or the sequences prove less than they seem to. */
const OUTCOMES: readonly string[] = [
  "moved",
  "replayed",
  "absent",
  '"created"',
  '"exists"',
  '"TypeError"',
  "undefined",
];

/**
 * Few names and values, so that steps meet; any text and any JSON, so that nothing depends on how
 * text is escaped.
 */
function anyStep(...keys: readonly RecordKey[]): fc.Arbitrary<Step> {
  const key = fc.constantFrom(...keys);
  const stage = fc.constantFrom("one", "two");
  const field = fc.constantFrom("code", "x_1");
  const text = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom("", "c1") },
    { weight: 1, arbitrary: anyText(fc) },
    { weight: 1, arbitrary: fc.string({ unit: "grapheme" }) },
  );
  // SQLite keeps numbers as written, and JSON has no minus zero.
  const json = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)) as JsonObject[string]);
  const data = fc.dictionary(field, fc.oneof({ weight: 3, arbitrary: text }, { weight: 1, arbitrary: json }), {
    noNullPrototype: true,
  });
  const life = fc.integer({ min: -1, max: 5 });
  const creation = fc.record({ key, stage, data, life, more: life }).map(
    ({ life, more, ...record }): Step =>
      (store, now) =>
        store.create({ ...record, expiresAt: now + life, keepUntil: now + life + more }),
  );
  const advance = fc
    .record({
      key,
      from: stage,
      expect: fc.dictionary(field, text, { noNullPrototype: true, maxKeys: 1 }),
      to: stage,
      set: data,
      remove: fc.array(field, { maxLength: 2 }),
      life: fc.option(life, { nil: undefined }),
    })
    .map(({ key, from, expect, to, set, remove, life }): Step => (store, now) => {
      const patch = { stage: to, set, remove, ...(life === undefined ? {} : { expiresAt: now + life }) };
      return store.advance(key, { stage: from, expect }, patch);
    });
  const read = fc.tuple(key, fc.boolean()).map(([key, includeExpired]): Step => async (store, now) => {
    const record = await store.get(key, { includeExpired });
    // From `keepUntil` on a store may have deleted the row, or not yet.
    return record === undefined || record.keepUntil <= now ? undefined : record;
  });
  const removal = key.map(
    (key): Step =>
      (store) =>
        store.delete(key),
  );
  return fc.oneof(
    { weight: 4, arbitrary: creation },
    { weight: 8, arbitrary: advance },
    { weight: 2, arbitrary: read },
    { weight: 1, arbitrary: removal },
  );
}

/** @returns the answer, or the name of the error, as text; the order of fields is not part of it */
async function outcomeOf(step: Step, store: RecordStore, now: number): Promise<string> {
  const answer = await step(store, now).catch((error: Error) => error.name);
  return answer === undefined ? "undefined" : canonicalJson(answer as JsonValue);
}

/** Runs any sequences of calls, a few of them if the stores are slow, on memory and on other stores of one engine. */
export async function expectAnswersOfMemory(
  open: (now: Clock) => RecordStore | Promise<RecordStore>,
  {
    keys,
    numRuns,
    maxLength,
  }: { readonly keys: readonly RecordKey[]; readonly numRuns: number; readonly maxLength: number },
): Promise<void> {
  const clock = fixedClock(1_700_000_000);
  // Two connections, as two processes have: neither knows what the other has written since it read.
  const stores = [await open(clock), await open(clock)] as const;
  const step = fc.tuple(anyStep(...keys), fc.integer({ min: 0, max: 2 }), fc.constantFrom(...stores));
  const seen = new Set<string>();
  const missing = (): readonly string[] => OUTCOMES.filter((outcome) => !seen.has(outcome));
  try {
    const sameAnswers = fc.asyncProperty(fc.array(step, { minLength: 10, maxLength }), async (sequence) => {
      const memory = memoryRecordStore({ now: clock });
      for (const key of keys) await stores[0].delete(key);
      for (const [call, seconds, store] of sequence) {
        const expected = await outcomeOf(call, memory, clock());
        seen.add(/"outcome":"(\w+)"/.exec(expected)?.[1] ?? expected);
        expect(await outcomeOf(call, store, clock())).toBe(expected);
        clock.advance(seconds);
      }
    });
    // Chance leaves an outcome out now and then.
    for (let round = 1; round === 1 || (round <= 10 && missing().length > 0); round += 1)
      await fc.assert(sameAnswers, { numRuns });
  } finally {
    for (const store of stores) await store.close();
  }
  expect(missing()).toEqual([]);
}
