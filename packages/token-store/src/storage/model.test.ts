import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { fixedClock, temporaryFolder, volume } from "@oauth-broker/oauth-core/testing";
import type { RecordStore } from "@oauth-broker/oauth-core";
import { anyStep, kindOf, outcomeOf, OUTCOMES } from "../testing/rows/any-steps.ts";
import { memoryRecordStore } from "./memory/record-store.ts";
import { sqliteRecordStore } from "./sqlite/record-store.ts";

const KEYS = ["a", "b"].map((id) => ({ kind: "k", id }));

// Two connections, as two processes have: neither knows what the other has written since it read.
it("memory and SQLite give the same answer to any sequence of calls, at any time", async () => {
  const folder = temporaryFolder();
  const clock = fixedClock(1_700_000_000);
  const open = (): RecordStore => sqliteRecordStore({ path: join(folder, "records.sqlite"), now: clock });
  const [sqlite, other] = [open(), open()];
  const steps = fc.array(fc.tuple(anyStep(...KEYS), fc.integer({ min: 0, max: 2 }), fc.boolean()), {
    minLength: 10,
    maxLength: 30,
  });
  const seen = new Set<string>();
  try {
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        const memory = memoryRecordStore({ now: clock });
        for (const key of KEYS) await sqlite.delete(key);
        for (const [step, seconds, isOther] of sequence) {
          const expected = await outcomeOf(step, memory, clock());
          seen.add(kindOf(expected));
          expect(await outcomeOf(step, isOther ? other : sqlite, clock())).toBe(expected);
          clock.advance(seconds);
        }
      }),
      { numRuns: volume({ test: 150, soak: 1000 }) },
    );
  } finally {
    await Promise.all([sqlite.close(), other.close()]);
  }
  expect([...seen]).toEqual(expect.arrayContaining([...OUTCOMES]));
});
