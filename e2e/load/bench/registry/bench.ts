/**
 * How long the registry of vendors takes to load, from its source and from a bundle made like the
 * broker's. The aim is for the bundle, because that is what is deployed. Not one of the bench's four scenarios, so it runs only when it is named: decision 0040
 * kept the registry's aim of 20 ms, and this is how it is checked.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BROKER_FOLDER, ROOT } from "../../../support/paths.ts";
import { aimLine, alignTable, type Spread, spreadOf } from "../../spread.ts";

/** What one process reports, by the name of the figure. */
const FIGURES = {
  loadMilliseconds: "load, ms",
  loadCpuMilliseconds: "load, ms on a processor",
} as const;
type RegistryFigure = keyof typeof FIGURES;
export type RegistryMeasurement = Readonly<Record<RegistryFigure, number>>;

export const REGISTRY_SUBJECTS = ["source", "bundle"] as const;
type RegistrySubject = (typeof REGISTRY_SUBJECTS)[number];
export type RegistryFigures = Readonly<Record<RegistrySubject, Readonly<Record<RegistryFigure, Spread>>>>;

/** The limit for the bundle, at the median. */
const LOAD_LIMIT_MILLISECONDS = 20;
const SOURCE = join(ROOT, "packages/oauth-core/src/registry/registry.ts");

/** @param runs of each subject, in turns; each in its own process */
export function runRegistryBench(
  runs: number,
  say: (line: string) => void,
): { readonly figures: RegistryFigures; readonly text: string } {
  const folder = mkdtempSync(join(tmpdir(), "registry-bench-"));
  try {
    const files: Record<RegistrySubject, string> = { source: SOURCE, bundle: bundleRegistry(folder) };
    const measured: Record<RegistrySubject, RegistryMeasurement[]> = { source: [], bundle: [] };
    for (let run = 1; run <= runs; run += 1) {
      for (const subject of REGISTRY_SUBJECTS) measured[subject].push(measure(files[subject]));
      say(`registry: run ${run} of ${runs}`);
    }
    const figures = { source: spreadsOf(measured.source), bundle: spreadsOf(measured.bundle) };
    return { figures, text: registryText(figures) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * With the broker's own bundler; the registry has none of the modules it treats specially
 * (built-ins, the sandbox).
 */
function bundleRegistry(folder: string): string {
  const file = join(folder, "registry.mjs");
  const config = join(folder, "rolldown.config.mjs");
  const options = { input: SOURCE, platform: "node", output: { file, format: "esm", codeSplitting: false } };
  writeFileSync(config, `export default ${JSON.stringify(options)};\n`);
  const rolldown = join(BROKER_FOLDER, "node_modules/rolldown/bin/cli.mjs");
  execFileSync(process.execPath, [rolldown, "-c", config], { cwd: BROKER_FOLDER, stdio: "pipe" });
  return file;
}

function measure(file: string): RegistryMeasurement {
  const probe = join(import.meta.dirname, "probe.ts");
  return JSON.parse(execFileSync(process.execPath, [probe, file], { encoding: "utf8" })) as RegistryMeasurement;
}

function spreadsOf(measurements: readonly RegistryMeasurement[]): RegistryFigures[RegistrySubject] {
  const names = Object.keys(FIGURES) as RegistryFigure[];
  const spreads = names.map((name) => [name, spreadOf(measurements.map((one) => one[name]))] as const);
  return Object.fromEntries(spreads) as RegistryFigures[RegistrySubject];
}

/** A table, and whether the aim is met. */
export function registryText(figures: RegistryFigures): string {
  const rows = REGISTRY_SUBJECTS.flatMap((subject) =>
    Object.entries(FIGURES).map(([name, label]) => {
      const { min, median, max } = figures[subject][name as RegistryFigure];
      return [`${subject}, ${label}`, ...[min, median, max].map((value) => value.toFixed(1)), ""];
    }),
  );
  const { median } = figures.bundle.loadMilliseconds;
  const what = `the registry loads from the bundle in ${median.toFixed(1)} ms`;
  const table = alignTable([["registry of vendors", "min", "median", "max", ""], ...rows]);
  return `${table}\n\n${aimLine(median <= LOAD_LIMIT_MILLISECONDS, what, `at most ${LOAD_LIMIT_MILLISECONDS}`)}`;
}
