/**
 * Runs the `/mcp` bench: far too short to say anything about speed, long enough to fail when a
 * server answers wrongly.
 */
import { volume } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import type { Round } from "../../rounds.ts";
import { compare, comparisonLines, runPart } from "../part.ts";
import { mixedLine } from "./mixed.ts";
import { mcpComparisons, openMcpPart } from "./part.ts";

/** Starts four servers and an engine; the rest of this file runs each time. */
const RUNS = volume<readonly string[]>({ test: [], soak: ["a run of every server"] });
describe.each(RUNS)("%s", () => {
  it("bar#RS-8 measures every server, and finds no user with data of another", async () => {
    const lines: string[] = [];
    const mixedCalls = 400;
    const size = { count: 8, rounds: 1, warmUp: 0, profiled: false };
    const { figures, more } = await runPart(await openMcpPart(mixedCalls), size, (line) => lines.push(line));
    expect(lines).toHaveLength(10);
    for (const subject of ["open", "sqlite", "dynamodb", "preRegistered"] as const) {
      expect(figures[`token ${subject}`]?.cpuMicroseconds?.median).toBeGreaterThan(0);
    }
    expect(figures["refresh dynamodb"]?.perSecond?.median).toBeGreaterThan(0);
    expect(figures["refresh dynamodb"]?.p99Milliseconds?.median).toBeGreaterThan(0);
    expect(more).toMatchObject({ mixed: { calls: { sqlite: mixedCalls, dynamodb: mixedCalls / 10 }, crossed: 0 } });
  });
});

describe("figures", () => {
  const round = (open: number, sqlite: number): Round => {
    const costs = { open, sqlite, dynamodb: 3 * open, preRegistered: open };
    const calls = ["nothing", "token"].flatMap((work) =>
      Object.entries(costs).map(([on, cpuMicroseconds]) => [`${work} ${on}`, { cpuMicroseconds, busy: 0.5 }] as const),
    );
    return Object.fromEntries(calls);
  };
  const linesOf = (...rounds: readonly Round[]) => comparisonLines([], compare(rounds, mcpComparisons()));
  // In the second round the whole machine was twice as slow.
  const rounds = [round(100, 110), round(200, 260), round(100, 112)];

  it("take the median of each round's own ratio, and one has an aim", () => {
    const results = compare(rounds, mcpComparisons());
    expect(results.map(({ subject }) => subject)).toEqual(
      ["nothing", "token"].flatMap((work) => ["sqlite", "dynamodb", "preRegistered"].map((on) => `${work} ${on}`)),
    );
    expect(results.find(({ subject }) => subject === "token sqlite")?.ratio).toMatchObject({
      min: 1.1,
      median: 1.12,
      max: 1.3,
    });
    expect(linesOf(...rounds)).toEqual([expect.stringMatching(/^aim met .*1\.12 \(1\.11 to 1\.21\)/)]);
    expect(linesOf(round(100, 126))).toEqual([expect.stringMatching(/^aim not met/)]);
  });

  it("bar#RS-8 one call with what is another's is one too many", () => {
    const users = { sqlite: 200, dynamodb: 20 };
    const calls = { sqlite: 1000, dynamodb: 100 };
    expect(mixedLine({ users, calls, crossed: 1 })).toMatch(/^aim not met/);
    expect(mixedLine({ users, calls, crossed: 0 })).toMatch(/^aim met /);
  });
});
