/**
 * Runs the `/mcp` bench: far too short to say anything about speed, long enough to fail when a
 * server answers wrongly.
 */
import { volume } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { outcomeTable } from "../../report.ts";
import { outcomesOf, type Round } from "../../rounds.ts";
import { mixedLine } from "./mixed.ts";
import { benchMcp, MCP_WORKS } from "./part.ts";

/** Starts four servers and an engine; the rest of this file runs each time. */
const RUNS = volume<readonly string[]>({ test: [], soak: ["a run of every server"] });
describe.each(RUNS)("%s", () => {
  it("bar#RS-8 measures every server, and finds no user with data of another", async () => {
    const lines: string[] = [];
    const mixedCalls = 400;
    const size = { count: 8, rounds: 1, warmUp: 0 };
    const { outcomes, mixed } = await benchMcp({ mixedCalls }, size, (line) => lines.push(line));
    expect(lines).toHaveLength(10);
    expect(outcomes.map(({ name }) => name)).toEqual(MCP_WORKS.map(({ name }) => name));
    for (const { figures } of outcomes) {
      expect(figures.cpuMicroseconds?.median).toBeGreaterThan(0);
      expect(figures.perSecond?.median).toBeGreaterThan(0);
      expect(figures.p99Milliseconds?.median).toBeGreaterThan(0);
    }
    expect(mixed).toEqual({ calls: { sqlite: mixedCalls, dynamodb: mixedCalls / 10 }, crossed: 0 });
  });
});

describe("figures", () => {
  const resultsOf = (rounds: readonly (readonly [open: number, sqlite: number])[]) =>
    outcomesOf(
      MCP_WORKS,
      rounds.map(([open, sqlite]): Round => {
        const costs: Record<string, number> = { open, sqlite, dynamodb: 3 * open, preRegistered: open };
        return Object.fromEntries(
          MCP_WORKS.map(({ name, on }) => [name, { cpuMicroseconds: costs[on]!, busyPercent: 50 }]),
        );
      }),
    );

  it("take the median of each round's own ratio, and one has an aim", () => {
    // In the second round the whole machine was twice as slow.
    const slow = [100, 200, 100].map((open, at) => [open, [110, 260, 112][at]!] as const);
    const results = resultsOf(slow);
    expect(results.flatMap(({ name, comparisons }) => comparisons.map(({ to }) => [name, to]))).toEqual(
      ["does nothing", "takes the token"].flatMap((work) =>
        ["hosted, SQLite", "hosted, DynamoDB + KMS", "pre-registered"].map((on) => [
          `${work}, ${on}`,
          `${work}, without auth`,
        ]),
      ),
    );
    const [hosted] = results.filter(({ name }) => name === "takes the token, hosted, SQLite");
    expect(hosted?.comparisons[0]?.ratio).toMatchObject({ min: 1.1, median: 1.12, max: 1.3 });
    expect(outcomeTable("it", results).match(/1\.120 \(1\.110 to 1\.210\).* aim .*/g)).toEqual([
      expect.stringMatching(/aim met: at most 1\.25$/),
    ]);
    expect(outcomeTable("it", resultsOf([[100, 126]])).match(/aim NOT MET/g)).toHaveLength(1);
  });

  it("bar#RS-8 one call with what is another's is one too many", () => {
    const calls = { sqlite: 1000, dynamodb: 100 };
    expect(mixedLine({ calls, crossed: 1 })).toMatch(/aim NOT MET: 0$/);
    expect(mixedLine({ calls, crossed: 0 })).toMatch(/aim met: 0$/);
  });
});
