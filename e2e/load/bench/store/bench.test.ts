/**
 * Runs the store's bench: far too short to say anything about speed, long enough to fail when an
 * answer is wrong.
 */
import { join } from "node:path";
import { volume } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { runStoreBench } from "./bench.ts";
import type { ClientCalls } from "./client.ts";
import { compareStoreWithAims, storeFiguresOf, type StoreRound, storeTable, storeAimLines } from "./figures.ts";
import { STORE_SUBJECTS, type StoreSubject } from "./subjects.ts";
import { requireSealed } from "./tokens.ts";
import { startWorker } from "../../worker.ts";

/** Starts engines and workers; the rest of this file runs each time. */
const RUNS = volume<readonly string[]>({ test: [], soak: ["a run on the store"] });
describe.each(RUNS)("%s", () => {
  it("measures every call beside its requests, and counts KMS calls", async () => {
    const lines: string[] = [];
    const options = { operations: 40, rounds: 2, storeWarmUp: 0, kmsReads: 1000 };
    const results = await runStoreBench(options, (line) => lines.push(line));
    expect(lines).toHaveLength(2 * STORE_SUBJECTS.length);
    for (const subject of STORE_SUBJECTS) {
      expect(results.figures[subject].cpuMicroseconds.min).toBeGreaterThan(0);
      expect(results.figures[subject].busy).toBeGreaterThan(0);
    }
    expect(results.comparisons.every(({ ratio }) => ratio.min > 0)).toBe(true);
    // All rows are under one data key.
    expect(results.kms).toEqual({ reads: 1000, cold: 1, warm: 0 });
    expect(results.rowBytes).toBeGreaterThan(1600);
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

describe("a worker", () => {
  it("hands back what a call threw, and refuses calls once it is gone", async () => {
    const worker = startWorker<ClientCalls>(join(import.meta.dirname, "client.ts"));
    await expect(worker.call("measure", "get", 1)).rejects.toThrow("get is not open");
    await worker.stop();
    await expect(worker.call("measure", "get", 1)).rejects.toThrow("closed");
  });
});

describe("figures of the store", () => {
  const of = (cpuMicroseconds: number) => ({ cpuMicroseconds, busy: 0.5 });
  const round = (get: number, put: number): StoreRound => {
    const all = Object.fromEntries(STORE_SUBJECTS.map((subject) => [subject, of(100)])) as Record<StoreSubject, never>;
    return { ...all, get: of(get), put: of(put), getItemPutItem: of(200) };
  };
  // In the second round our side was slower.
  const rounds = [round(110, 240), round(190, 400), round(120, 250)];
  const kms = { reads: 10_000, cold: 2, warm: 1 };

  it("take the median of each round's own ratio, and compare it with the aim", () => {
    expect(storeFiguresOf(rounds).get.cpuMicroseconds).toMatchObject({ min: 110, median: 120, max: 190 });
    expect(compareStoreWithAims(rounds).map(({ subject, to, ratio, met }) => [subject, to, ratio.median, met])).toEqual(
      [
        ["get", "getItem", 1.2, true],
        ["put", "putItem", 2.5, false],
        ["put", "getItemPutItem", 1.25, true],
        ["create", "putNewItem", 1, true],
        ["advance", "updateItem", 1, true],
      ],
    );
  });

  it("say what was compared with what", () => {
    const lines = storeAimLines(compareStoreWithAims(rounds), kms).split("\n");
    expect(lines[1]).toBe("aim not met  TokenStore.put: 2.50 (2.45 to 3.25) × PutItem; aim: at most 1.25");
    expect(lines.at(-1)).toBe(
      "aim met      KMS calls for 10000 warm reads: 1, from a cold start 2; aim: at most 1 for 10000",
    );
    expect(storeAimLines([], { ...kms, warm: 2 })).toMatch(/^aim not met/);
  });

  it("are printed one line per subject", () => {
    expect(storeTable(storeFiguresOf(rounds)).split("\n")[2]).toBe(
      "TokenStore.get                          110      120      190    50 %",
    );
  });
});
