/**
 * How long the registry of vendors takes to load, from its source and from a bundle made like the
 * broker's. The aim is for the bundle, because that is what is deployed. Not one of the bench's four
 * scenarios, so it runs only when it is named: decision 0040 kept the registry's aim of 20 ms, and
 * this is how it is checked.
 */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { build } from "rolldown";
import { ROOT } from "../../../support/paths.ts";
import { temporaryFolder } from "../../../support/service-process.ts";
import { aimText, alignTable } from "../../report.ts";
import { type Spread, spreadOf } from "../../spread.ts";

/** The limit for the bundle, at the median. */
const LIMIT_MS = 20;
const SOURCE = join(ROOT, "packages/oauth-core/src/registry/registry.ts");
const PROBE = join(import.meta.dirname, "probe.ts");

/** ms until it is loaded, by the clock and on a processor. */
export type Load = readonly [wall: number, cpu: number];
type Spreads = Readonly<Record<"source" | "bundle", readonly [wall: Spread, cpu: Spread]>>;

/** @param runs of each, in turns; each in its own process */
export async function benchRegistry(runs: number, say: (line: string) => void) {
  // With the broker's bundler; the registry has none of the modules it treats specially (built-ins, the sandbox).
  const bundle = join(temporaryFolder(), "registry.mjs");
  await build({ input: SOURCE, platform: "node", output: { file: bundle, format: "esm", codeSplitting: false } });
  const loads: Record<"source" | "bundle", Load[]> = { source: [], bundle: [] };
  for (let run = 1; run <= runs; run += 1) {
    loads.source.push(load(SOURCE));
    loads.bundle.push(load(bundle));
    say(`registry: run ${run} of ${runs}`);
  }
  const spreads = { source: spreadsOf(loads.source), bundle: spreadsOf(loads.bundle) };
  return { spreads, text: registryText(spreads) };
}

function load(file: string): Load {
  return JSON.parse(execFileSync(process.execPath, [PROBE, file], { encoding: "utf8" })) as Load;
}

function spreadsOf(loads: readonly Load[]): Spreads["source"] {
  return [spreadOf(loads.map(([wall]) => wall)), spreadOf(loads.map(([, cpu]) => cpu))];
}

/** A table, and whether the aim is met. */
export function registryText(spreads: Spreads): string {
  const rows = Object.entries(spreads).flatMap(([name, both]) =>
    both.map(({ min, median, max }, at) => {
      const figures = [min, median, max].map((value) => value.toFixed(1));
      return [at === 0 ? name : `${name}, on a processor`, ...figures, ""];
    }),
  );
  const table = alignTable([["registry of vendors, load, ms", "min", "median", "max", ""], ...rows]);
  const isMet = spreads.bundle[0].median <= LIMIT_MS;
  return `${table}\n\n${aimText(isMet, `the bundle loads in at most ${LIMIT_MS} ms`)}`;
}
