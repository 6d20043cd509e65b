/**
 * Runs the store's bench: far too short to say anything about speed, long enough to fail when an
 * answer is wrong.
 */
import { volume } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import type { Round } from "../../rounds.ts";
import { compare, comparisonLines, figuresOf, runPart, table } from "../part.ts";
import { kmsLine, openStorePart, STORE_COMPARISONS } from "./part.ts";
import { STORE_LABELS } from "./operations.ts";
import { requireSealed } from "./tokens.ts";

const NAMES = Object.keys(STORE_LABELS);

/** Starts engines and workers; the rest of this file runs each time. */
const RUNS = volume<readonly string[]>({ test: [], soak: ["a run on the store"] });
describe.each(RUNS)("%s", () => {
  it("measures every call beside its requests, and counts KMS calls", async () => {
    const lines: string[] = [];
    const size = { count: 40, rounds: 2, warmUp: 0, profiled: false };
    const results = await runPart(await openStorePart(1000), size, (line) => lines.push(line));
    expect(lines).toHaveLength(2 * NAMES.length);
    for (const name of NAMES) {
      expect(results.figures[name]?.cpuMicroseconds?.min).toBeGreaterThan(0);
      expect(results.figures[name]?.busy?.min).toBeGreaterThan(0);
    }
    expect(results.comparisons.every(({ ratio }) => ratio.min > 0)).toBe(true);
    // All rows are under one data key.
    const { kms, rowBytes } = results.more as { readonly kms: object; readonly rowBytes: number };
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
  const of = (cpuMicroseconds: number) => ({ cpuMicroseconds, busy: 0.5 });
  const round = (get: number, put: number): Round => {
    const all = Object.fromEntries(NAMES.map((name) => [name, of(100)]));
    return { ...all, get: of(get), put: of(put), getItemPutItem: of(200) };
  };
  // In the second round our side was slower.
  const rounds = [round(110, 240), round(190, 400), round(120, 250)];
  const results = compare(rounds, STORE_COMPARISONS);
  const subjects = Object.entries(STORE_LABELS).map(([name, label]) => ({ name, label, measure: async () => of(0) }));

  it("take the median of each round's own ratio, and compare it with the aim", () => {
    expect(figuresOf(rounds)["get"]?.cpuMicroseconds).toMatchObject({ min: 110, median: 120, max: 190 });
    expect(results.map(({ subject, to, ratio, isMet }) => [subject, to, ratio.median, isMet])).toEqual([
      ["get", "getItem", 1.2, true],
      ["put", "putItem", 2.5, false],
      ["put", "getItemPutItem", 1.25, true],
      ["create", "putNewItem", 1, true],
      ["advance", "updateItem", 1, true],
    ]);
  });

  it("say what was compared with what", () => {
    expect(comparisonLines(subjects, results)[1]).toBe(
      "aim not met  TokenStore.put: 2.50 (2.45 to 3.25) × PutItem; aim: at most 1.25",
    );
    const kms = { reads: 10_000, cold: 2, warm: 1 };
    expect(kmsLine(kms)).toBe(
      "aim met      KMS calls for 10000 warm reads: 1, from a cold start 2; aim: at most 1 for 10000",
    );
    expect(kmsLine({ ...kms, warm: 2 })).toMatch(/^aim not met/);
  });

  it("are printed one line per subject", () => {
    const printed = table({ measured: "it", subjects }, { figures: figuresOf(rounds), comparisons: results });
    expect(printed.split("\n")).toHaveLength(1 + NAMES.length);
    expect(printed.split("\n")[2]).toMatch(
      /^TokenStore\.get +110 +120 +190 +50 +1\.20 \(1\.15 to 1\.55\) × GetItem, consistent$/,
    );
  });
});
