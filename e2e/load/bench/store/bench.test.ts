/**
 * Runs the store's bench: far too short to say anything about speed, long enough to fail when an
 * answer is wrong.
 */
import { volume } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { benchStore, COMPARED, kmsLine } from "./part.ts";
import { requireSealed } from "./tokens.ts";

const SUBJECTS = [...Object.keys(COMPARED), ...Object.values(COMPARED).flat()];

/** Starts engines and workers; the rest of this file runs each time. */
const RUNS = volume<readonly string[]>({ test: [], soak: ["a run on the store"] });
describe.each(RUNS)("%s", () => {
  it("measures every call beside its requests, and counts KMS calls", async () => {
    const lines: string[] = [];
    const size = { count: 40, rounds: 2, warmUp: 0 };
    const { outcomes, kms, rowBytes } = await benchStore(size, (line) => lines.push(line), 1000);
    expect(lines).toHaveLength(2 * SUBJECTS.length);
    expect(outcomes.map(({ name }) => name).toSorted()).toEqual(SUBJECTS.toSorted());
    for (const { figures, comparisons } of outcomes) {
      expect(figures.cpuMicroseconds?.min).toBeGreaterThan(0);
      expect(figures.busyPercent?.min).toBeGreaterThan(0);
      for (const { ratio } of comparisons) expect(ratio.min).toBeGreaterThan(0);
    }
    // All rows are under one data key.
    expect(kms).toEqual({ reads: 1000, cold: 1, warm: 0 });
    expect(rowBytes).toBeGreaterThan(1600);
  });
});

it("a row of the store that is not sealed is refused", () => {
  expect(() => requireSealed({ sealed_access_token: { S: "x" }, access_token: { S: "a".repeat(1000) } })).toThrow(
    "not sealed",
  );
  expect(() => requireSealed({ data_key: { S: "x" } })).toThrow("not sealed");
  expect(() => requireSealed({ sealed_access_token: { S: "x" } })).not.toThrow();
});

it("says how many calls of the key service are too many", () => {
  const kms = { reads: 10_000, cold: 2, warm: 1 };
  expect(kmsLine(kms)).toBe("KMS calls for 10000 warm reads: 1, from a cold start 2, aim met: at most 1 for 10000");
  expect(kmsLine({ ...kms, warm: 2 })).toMatch(/aim NOT MET/);
});
