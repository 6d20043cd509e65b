/**
 * Runs the registry's bench: too short to say anything about speed, long enough to fail when the
 * registry does not answer.
 */
import { expect, it } from "vitest";
import { REGISTRY_SUBJECTS, registryTable, registryAimLine, runRegistryBench } from "./bench.ts";

it("loads the registry from source and from a bundle, and says what both cost", () => {
  const lines: string[] = [];
  const results = runRegistryBench({ runs: 1 }, (line) => lines.push(line));
  expect(lines).toEqual(["registry: run 1 of 1"]);
  for (const subject of REGISTRY_SUBJECTS) {
    const figures = results.figures[subject];
    expect(figures.entries.min).toBeGreaterThan(300);
    expect(figures.loadMilliseconds.median).toBeGreaterThan(0);
    expect(figures.lookUpNanoseconds.median).toBeGreaterThan(0);
  }
  expect(registryTable(results.figures).split("\n")).toHaveLength(11);
  const { bundle } = results.figures;
  const slow = { ...bundle, loadMilliseconds: { min: 21, lower: 21, median: 21, upper: 21, max: 21 } };
  expect(registryAimLine({ ...results, figures: { ...results.figures, bundle: slow }, isAimMet: false })).toBe(
    "aim not met  the registry loads from the bundle in 21.0 ms; aim: at most 20",
  );
});
