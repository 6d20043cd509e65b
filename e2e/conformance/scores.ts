/** What the conformance suite says of a server, and what it has to say. docs/conformance.md explains the figures. */
import { expect } from "vitest";
import { baselineOf, type Revision, runSuite, scoredScenarios, type SuiteRun } from "./suite.ts";

/** Checks by their outcome. */
export type Score = ReturnType<typeof scoreOf>;
/** @param names of scenarios; default: all that ran */
export function scoreOf({ scenarios }: SuiteRun, names: Iterable<string> = scenarios.keys()) {
  const ran = [...names].map((name) => scenarios.get(name) ?? []);
  const count = (wanted: string): number => ran.flat().filter((status) => status === wanted).length;
  return {
    scenarios: ran.filter((statuses) => statuses.length > 0).length,
    passed: count("SUCCESS"),
    failed: count("FAILURE"),
    warnings: count("WARNING"),
  };
}

/**
 * What a server on `mcp-auth` gets: exact, so that a suite that runs fewer checks is noticed. `beyond`: checks passed by
 * scenario, of those that the suite runs and does not score yet.
 */
export const SCORES: readonly (readonly [Revision, Score, beyond: Readonly<Record<string, number>>])[] = [
  [
    "2026-07-28",
    { scenarios: 37, passed: 118, failed: 0, warnings: 0 },
    { "http-header-validation": 14, "http-custom-header-server-validation": 10, "json-schema-2020-12": 8 },
  ],
  ["2025-11-25", { scenarios: 30, passed: 53, failed: 6, warnings: 1 }, { "json-schema-2020-12": 8 }],
];

/**
 * Runs the scenarios of a revision, with its baseline.
 *
 * @param url of the server, without `/mcp`
 */
export async function expectScore(url: string, ...[revision, score, beyond]: (typeof SCORES)[number]): Promise<void> {
  const args = ["--requirements", revision, "--expected-failures", baselineOf(revision)];
  const run = await runSuite("server", "--url", `${url}/mcp`, ...args);
  const found = scoreOf(run, scoredScenarios(revision));
  console.log(`MCP ${revision}, scored:`, found);
  expect(run.exitCode, run.output).toBe(0);
  expect(found, run.output).toEqual(score);
  for (const [scenario, passed] of Object.entries(beyond)) {
    expect(scoreOf(run, [scenario]), run.output).toEqual({ scenarios: 1, passed, failed: 0, warnings: 0 });
  }
}
