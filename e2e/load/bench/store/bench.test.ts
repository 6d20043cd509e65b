/**
 * Runs the store's bench: far too short to say anything about speed, long enough to fail when an
 * answer is wrong.
 */
import { volume } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { outcomeTable } from "../../report.ts";
import { outcomesOf, type Round } from "../../rounds.ts";
import { benchStore, COMPARED, kmsLine, LIMIT } from "./part.ts";
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

describe("a row of the store", () => {
  it("that is not sealed is refused", () => {
    expect(() => requireSealed({ sealed_access_token: { S: "x" }, access_token: { S: "a".repeat(1000) } })).toThrow(
      "not sealed",
    );
    expect(() => requireSealed({ data_key: { S: "x" } })).toThrow("not sealed");
    expect(() => requireSealed({ sealed_access_token: { S: "x" } })).not.toThrow();
  });
});

describe("figures of the store", () => {
  const of = (cpuMicroseconds: number) => ({ cpuMicroseconds, busyPercent: 50 });
  const round = (get: number, put: number): Round => ({
    ...Object.fromEntries(SUBJECTS.map((name) => [name, of(100)])),
    "TokenStore.get": of(get),
    "TokenStore.put": of(put),
    "GetItem, then PutItem": of(200),
  });
  // In the second round our side was slower.
  const rounds = [round(110, 240), round(190, 400), round(120, 250)];
  const subjects = Object.entries(COMPARED).map(([name, others]) => ({
    name,
    comparisons: others.map((to) => ({ to, limit: LIMIT })),
  }));
  const results = outcomesOf(subjects, rounds);

  it("take the median of each round's own ratio, and compare it with the aim", () => {
    expect(results[0]?.figures.cpuMicroseconds).toMatchObject({ min: 110, median: 120, max: 190 });
    const all = results.flatMap(({ name, comparisons }) =>
      comparisons.map(({ to, ratio, limit = 0 }) => [name, to, ratio.median, ratio.median <= limit]),
    );
    expect(all).toEqual([
      ["TokenStore.get", "GetItem, consistent", 1.2, true],
      ["TokenStore.put", "PutItem", 2.5, false],
      ["TokenStore.put", "GetItem, then PutItem", 1.25, true],
      ["RecordStore.create", "PutItem of a new item", 1, true],
      ["RecordStore.advance", "UpdateItem under a condition", 1, true],
    ]);
  });

  it("say what was compared with what", () => {
    const kms = { reads: 10_000, cold: 2, warm: 1 };
    expect(kmsLine(kms)).toBe("KMS calls for 10000 warm reads: 1, from a cold start 2, aim met: at most 1 for 10000");
    expect(kmsLine({ ...kms, warm: 2 })).toMatch(/aim NOT MET/);
  });

  it("are printed one line per comparison", () => {
    const printed = outcomeTable("it", results).split("\n");
    expect(printed).toHaveLength(6);
    expect(printed[1]).toMatch(
      /^TokenStore\.get +110 +120 +190 +50 +1\.200 \(1\.150 to 1\.550\) × GetItem, consistent, aim met: at most 1\.25$/,
    );
  });
});
