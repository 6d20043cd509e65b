/**
 * The client half of the MCP conformance suite: its servers and authorization servers, which break
 * the rules one at a time, against our client, in the soak. The figures are exact. docs/conformance.md says
 * which part of the client is the platform's code.
 */
import { patience, volume } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { baselineOf, type Revision, runClientSuite, scoredScenarios } from "../../conformance/suite.ts";

const SCORES: readonly [Revision, Readonly<Record<string, number>>][] = [
  ["2026-07-28", { scenarios: 32, SUCCESS: 477, SKIPPED: 4 }],
  ["2025-11-25", { scenarios: 18, SUCCESS: 323 }],
];

describe("the client", () => {
  it.each(volume({ test: [], soak: SCORES }))("meets %s", { timeout: patience(12_500) }, async (revision, score) => {
    const run = await runClientSuite("--requirements", revision, "--expected-failures", baselineOf(revision));
    const ran = scoredScenarios(revision, "client").map((scenario) => run.scenarios.get(scenario) ?? []);
    const found: Record<string, number> = { scenarios: ran.filter((statuses) => statuses.length > 0).length };
    for (const status of ran.flat().filter((status) => status !== "INFO")) found[status] = (found[status] ?? 0) + 1;
    console.log(`MCP ${revision}, client, scored:`, found);
    expect(run.exitCode, run.output).toBe(0);
    expect(found, run.output).toEqual(score);
  });

  it("fails when it cannot do what a scenario requires", async () => {
    const run = await runClientSuite("--scenario", "auth/client-credentials-basic");
    expect(run.exitCode).toBe(1);
    expect(run.scenarios.get("auth/client-credentials-basic")).toContain("FAILURE");
  });
});
