/**
 * How long the registry of vendors takes to load from a bundle made like the broker's, because that
 * is what is deployed. Not one of the bench's four scenarios, so it runs only when it is named:
 * decision 0040 kept the registry's aim of 20 ms, and this is how it is checked.
 */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { build } from "rolldown";
import { ROOT } from "../../../support/paths.ts";
import { temporaryFolder } from "../../../support/service-process.ts";
import { aimText, alignTable } from "../../report.ts";
import { spreadOf } from "../../spread.ts";

/** At the median. */
const LIMIT_MS = 20;
const SOURCE = join(ROOT, "packages/oauth-core/src/registry/registry.ts");
const PROBE = join(import.meta.dirname, "probe.ts");

/** ms until it is loaded, by the clock and on a processor. */
export type Load = readonly [wall: number, cpu: number];

/** @param runs each in its own process */
export async function benchRegistry(runs: number, say: (line: string) => void): Promise<readonly Load[]> {
  // With the broker's bundler; the registry has none of the modules it treats specially (built-ins, the sandbox).
  const file = join(temporaryFolder(), "registry.mjs");
  await build({ input: SOURCE, platform: "node", output: { file, format: "esm", codeSplitting: false } });
  return Array.from({ length: runs }, (_, run) => {
    say(`registry: run ${run + 1} of ${runs}`);
    return JSON.parse(execFileSync(process.execPath, [PROBE, file], { encoding: "utf8" })) as Load;
  });
}

/** A table, and whether the aim is met. */
export function registryText(loads: readonly Load[]): string {
  const [wall, cpu] = [spreadOf(loads.map(([one]) => one)), spreadOf(loads.map(([, one]) => one))];
  const rows = Object.entries({ "by the clock": wall, "on a processor": cpu }).map(([name, { min, median, max }]) => {
    return [name, ...[min, median, max].map((value) => value.toFixed(1)), ""];
  });
  const table = alignTable([["registry of vendors, load from a bundle, ms", "min", "median", "max", ""], ...rows]);
  return `${table}\n\n${aimText(wall.median <= LIMIT_MS, `it loads in at most ${LIMIT_MS} ms`)}`;
}
