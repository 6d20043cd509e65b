/**
 * Runs the registry's bench: too short to say anything about speed, long enough to fail when the
 * registry does not answer.
 */
import { volume } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { spreadOf } from "../../spread.ts";
import { benchRegistry, registryText } from "./bench.ts";

/** Bundles, and starts two processes; the rest of this file runs each time. */
const RUNS = volume<readonly string[]>({ test: [], soak: ["a run"] });
describe.each(RUNS)("%s", () => {
  it("loads the registry from source and from a bundle, and measures both", async () => {
    const lines: string[] = [];
    const { spreads } = await benchRegistry(1, (line) => lines.push(line));
    expect(lines).toEqual(["registry: run 1 of 1"]);
    for (const { median } of [...spreads.source, ...spreads.bundle]) expect(median).toBeGreaterThan(0);
  });
});

it("says what both cost, and whether the bundle loads in time", () => {
  const one = [spreadOf([21]), spreadOf([30])] as const;
  const lines = registryText({ source: one, bundle: one }).split("\n");
  expect(lines.slice(0, -2)).toHaveLength(5);
  expect(lines.at(-1)).toBe("aim NOT MET: the bundle loads in at most 20 ms");
});
