/**
 * Runs the `/mcp` bench: far too short to say anything about speed, long enough to fail when a
 * server answers wrongly.
 */
import { volume } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { mcpFiguresOf, type McpRound, mcpTable, mcpAimLine } from "./figures.ts";
import { mixedLine } from "./mixed.ts";
import { runMcpBench } from "./bench.ts";

/** Starts four servers and an engine; the rest of this file runs each time. */
const RUNS = volume<readonly string[]>({ test: [], soak: ["a run of every server"] });
describe.each(RUNS)("%s", () => {
  it("bar#RS-8 measures every server, and finds no user with data of another", async () => {
    const lines: string[] = [];
    const mixedCalls = 400;
    const options = { calls: 32, rounds: 1, callsWarmUp: 0, mixedCalls };
    const { figures, mixed } = await runMcpBench(options, (line) => lines.push(line));
    expect(lines).toHaveLength(10);
    for (const subject of ["open", "sqlite", "dynamodb", "preRegistered"] as const) {
      expect(figures.calls.token[subject].cpuMicroseconds.median).toBeGreaterThan(0);
    }
    expect(figures.refreshes.dynamodb.perSecond.median).toBeGreaterThan(0);
    expect(mixed).toMatchObject({ calls: { sqlite: mixedCalls, dynamodb: mixedCalls / 10 }, crossed: 0 });
  });
});

describe("figures", () => {
  const round = (open: number, sqlite: number): McpRound => {
    const of = (cpuMicroseconds: number) => ({ cpuMicroseconds, busy: 0.5, perSecond: 200, p99Milliseconds: 90 });
    const calls = { open: of(open), sqlite: of(sqlite), dynamodb: of(3 * open), preRegistered: of(open) };
    return { calls: { nothing: calls, token: calls }, refreshes: { sqlite: of(500), dynamodb: of(900) } };
  };
  // In the second round the whole machine was twice as slow.
  const figures = mcpFiguresOf([round(100, 110), round(200, 260), round(100, 112)]);

  it("take the median of each round's own ratio", () => {
    expect(figures.calls.token.sqlite.ratio).toMatchObject({ min: 1.1, median: 1.12, max: 1.3 });
    expect(mcpAimLine(figures)).toMatch(/^aim met .*1\.12 \(1\.11 to 1\.21\)/);
    expect(mcpAimLine(mcpFiguresOf([round(100, 126)]))).toMatch(/^aim not met/);
    expect(mcpTable(figures).split("\n")).toHaveLength(13);
  });

  it("bar#RS-8 one call with what is another's is one too many", () => {
    const users = { sqlite: 200, dynamodb: 20 };
    const calls = { sqlite: 1000, dynamodb: 100 };
    expect(mixedLine({ users, calls, crossed: 1 })).toMatch(/^aim not met/);
    expect(mixedLine({ users, calls, crossed: 0 })).toMatch(/^aim met /);
  });
});
