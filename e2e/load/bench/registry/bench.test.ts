/**
 * Runs the registry's bench: too short to say anything about speed, long enough to fail when the
 * registry does not answer.
 */
import { volume } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { benchRegistry, registryText } from "./bench.ts";

/** Bundles, and starts a process; the rest of this file runs each time. */
const RUNS = volume<readonly string[]>({ test: [], soak: ["a run"] });
describe.each(RUNS)("%s", () => {
  it("loads the registry from a bundle, and measures it", async () => {
    const lines: string[] = [];
    const [load = []] = await benchRegistry(1, (line) => lines.push(line));
    expect(lines).toEqual(["registry: run 1 of 1"]);
    for (const milliseconds of load) expect(milliseconds).toBeGreaterThan(0);
  });
});

it("says what it costs, and whether it loads in time", () => {
  const lines = registryText([[21, 30]]).split("\n");
  expect(lines.slice(0, -2)).toHaveLength(3);
  expect(lines.at(-1)).toBe("aim NOT MET: it loads in at most 20 ms");
});
