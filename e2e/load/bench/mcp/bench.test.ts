/**
 * Runs the `/mcp` bench: far too short to say anything about speed, long enough to fail when a
 * server answers wrongly.
 */
import { volume } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
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

it("bar#RS-8 one call with what is another's is one too many", () => {
  const calls = { sqlite: 1000, dynamodb: 100 };
  expect(mixedLine({ calls, crossed: 1 })).toMatch(/aim NOT MET: 0$/);
  expect(mixedLine({ calls, crossed: 0 })).toMatch(/aim met: 0$/);
});
