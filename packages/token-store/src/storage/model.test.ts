import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyText, fixedClock } from "@oauth-broker/oauth-core/testing";
import type { JsonObject, JsonValue, RecordStore } from "@oauth-broker/oauth-core";
import { canonicalJson } from "../crypto/canonical-json.ts";
import { memoryRecordStore } from "./memory/record-store.ts";
import { sqliteRecordStore } from "./sqlite/record-store.ts";

const NOW = 1_700_000_000;

type Step = (store: RecordStore, now: number) => Promise<unknown>;

// Few names and values, so that steps meet; any text and any JSON, so that nothing depends on how
// text is escaped.
const id = fc.constantFrom("a", "b");
const stage = fc.constantFrom("one", "two");
const field = fc.constantFrom("code", "client", "x_1");
const text = fc.oneof(fc.constantFrom("", "c1", "1"), anyText(fc), fc.string({ unit: "grapheme" }));
// SQLite keeps numbers as written, and JSON has no minus zero.
const json = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)) as JsonObject[string]);
const data = fc.dictionary(field, fc.oneof(text, json), { noNullPrototype: true });
const life = fc.integer({ min: -2, max: 5 });

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ id, stage, data, life, more: life }).map(
    ({ id, stage, data, life, more }): Step =>
      (store, now) =>
        store.create({
          key: { kind: "k", id },
          stage,
          data,
          expiresAt: now + life,
          keepUntil: now + life + more,
        }),
  ),
  fc
    .record({
      id,
      from: stage,
      expect: fc.dictionary(field, text, { noNullPrototype: true, maxKeys: 2 }),
      to: stage,
      set: data,
      remove: fc.array(field, { maxLength: 2 }),
      life: fc.option(life, { nil: undefined }),
    })
    .map(({ id, from, expect, to, set, remove, life }): Step => (store, now) => {
      const patch = { stage: to, set, remove, ...(life === undefined ? {} : { expiresAt: now + life }) };
      return store.advance({ kind: "k", id }, { stage: from, expect }, patch);
    }),
  fc.record({ id, includeExpired: fc.boolean() }).map(({ id, includeExpired }): Step => async (store, now) => {
    const record = await store.get({ kind: "k", id }, { includeExpired });
    // From `keepUntil` on a store may have deleted the row, or not yet.
    return record === undefined || record.keepUntil <= now ? undefined : record;
  }),
  id.map(
    (id): Step =>
      (store) =>
        store.delete({ kind: "k", id }),
  ),
);

describe("memory and SQLite", () => {
  // Two connections, as two processes have: neither knows what the other has written since it read.
  it("give the same answer to any sequence of calls, at any time", async () => {
    const folder = mkdtempSync(join(tmpdir(), "model-"));
    const clock = fixedClock(NOW);
    const open = (): RecordStore => sqliteRecordStore({ path: join(folder, "records.sqlite"), now: clock });
    const [sqlite, other] = [open(), open()];
    const steps = fc.array(fc.tuple(step, fc.integer({ min: 0, max: 2 }), fc.boolean()), { maxLength: 30 });
    const seen = new Set<string>();
    const outcome = async (one: Step, store: RecordStore): Promise<string> => {
      const answer = await one(store, clock()).catch((error: Error) => error.name);
      return answer === undefined ? "undefined" : canonicalJson(answer as JsonValue);
    };
    try {
      await fc.assert(
        fc.asyncProperty(steps, async (sequence) => {
          const memory = memoryRecordStore({ now: clock });
          for (const name of ["a", "b"]) await sqlite.delete({ kind: "k", id: name });
          for (const [one, seconds, isOther] of sequence) {
            const expected = await outcome(one, memory);
            seen.add(/"outcome":"(\w+)"/.exec(expected)?.[1] ?? expected);
            expect(await outcome(one, isOther ? other : sqlite)).toBe(expected);
            clock.advance(seconds);
          }
        }),
        { numRuns: 1000 },
      );
    } finally {
      await Promise.all([sqlite.close(), other.close()]);
      rmSync(folder, { recursive: true });
    }
    // Else the sequences above proved less than they seem to.
    for (const answer of ["moved", "replayed", "absent", '"created"', '"exists"', '"TypeError"', "undefined"]) {
      expect(seen).toContain(answer);
    }
  });
});
