/**
 * How long the registry of vendors takes to load, from its source and from a bundle made like the
 * broker's, and what one look-up costs a flow. The aim is for the bundle, because that is what is
 * deployed. Not one of the bench's four scenarios, so it runs only when it is named: decision 0040
 * kept the registry's aim of 20 ms, and this is how it is checked.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BROKER_FOLDER, ROOT } from "../../../support/paths.ts";
import { aimLine, alignTable, type Spread, spreadOf } from "../../spread.ts";

export interface RegistryMeasurement {
  readonly entries: number;
  readonly loadMilliseconds: number;
  readonly loadCpuMilliseconds: number;
  /** The first look-up of an entry that was not requested before. */
  readonly firstLookUpMicroseconds: number;
  readonly lookUpNanoseconds: number;
  /** The time to build every remaining entry. */
  readonly allMilliseconds: number;
}

export const REGISTRY_SUBJECTS = ["source", "bundle"] as const;
export type RegistrySubject = (typeof REGISTRY_SUBJECTS)[number];

export type RegistryFigures = Readonly<Record<RegistrySubject, Readonly<Record<keyof RegistryMeasurement, Spread>>>>;

export interface RegistryResults {
  readonly runs: number;
  readonly figures: RegistryFigures;
  readonly isAimMet: boolean;
}

/** The limit for the bundle, at the median. */
export const LOAD_LIMIT_MILLISECONDS = 20;

const SOURCE = join(ROOT, "packages/oauth-core/src/registry/registry.ts");

/** @param options.runs of each subject, in turns; each in its own process */
export function runRegistryBench({ runs }: { runs: number }, say: (line: string) => void): RegistryResults {
  const folder = mkdtempSync(join(tmpdir(), "registry-bench-"));
  try {
    const files: Record<RegistrySubject, string> = { source: SOURCE, bundle: bundleRegistry(folder) };
    const measured: Record<RegistrySubject, RegistryMeasurement[]> = { source: [], bundle: [] };
    for (let run = 1; run <= runs; run += 1) {
      for (const subject of REGISTRY_SUBJECTS) measured[subject].push(measure(files[subject]));
      say(`registry: run ${run} of ${runs}`);
    }
    const figures = { source: spreadsOf(measured.source), bundle: spreadsOf(measured.bundle) };
    return { runs, figures, isAimMet: figures.bundle.loadMilliseconds.median <= LOAD_LIMIT_MILLISECONDS };
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
  const names = Object.keys(measurements[0] ?? {}) as (keyof RegistryMeasurement)[];
  const spreads = names.map((name) => [name, spreadOf(measurements.map((one) => one[name]))] as const);
  return Object.fromEntries(spreads) as RegistryFigures[RegistrySubject];
}

const ROWS: readonly (readonly [name: keyof RegistryMeasurement, label: string])[] = [
  ["loadMilliseconds", "load, ms"],
  ["loadCpuMilliseconds", "load, ms on a processor"],
  ["firstLookUpMicroseconds", "first look-up of an entry, µs"],
  ["lookUpNanoseconds", "further look-up, ns"],
  ["allMilliseconds", "make all entries, ms"],
];

export function registryTable(figures: RegistryFigures): string {
  const rows = REGISTRY_SUBJECTS.flatMap((subject) =>
    ROWS.map(([name, label]) => {
      const { min, median, max } = figures[subject][name];
      return [`${subject}, ${label}`, ...[min, median, max].map((value) => value.toFixed(1)), ""];
    }),
  );
  return alignTable([["registry of vendors", "min", "median", "max", ""], ...rows]);
}

export function registryAimLine({ figures, isAimMet }: RegistryResults): string {
  const { median } = figures.bundle.loadMilliseconds;
  const what = `the registry loads from the bundle in ${median.toFixed(1)} ms`;
  return aimLine(isAimMet, what, `at most ${LOAD_LIMIT_MILLISECONDS}`);
}
