/**
 * The store's bench: what a call of the token store and of the record store costs on DynamoDB
 * beside the requests it cannot do without, and how often KMS is called.
 */
import { describeMachine } from "../../machine.ts";
import type { Engines } from "../../engines.ts";
import {
  type ComparisonResult,
  compareStoreWithAims,
  type KmsFigures,
  progress,
  STORE_LABELS,
  type StoreFigures,
  storeFiguresOf,
  type StoreRound,
} from "./figures.ts";
import { startStoreHarness, type StoreHarness } from "./harness.ts";
import { LANES, STORE_SUBJECTS, TOKEN_LENGTHS } from "./subjects.ts";
import { measureRounds, orderOf, type RunRound } from "../../rounds.ts";

export interface StoreBenchOptions {
  /** Per subject and round. */
  readonly operations: number;
  readonly rounds: number;
  /** Operations per subject before the first round, at most: see rounds.ts. */
  readonly storeWarmUp: number;
  /** Reads whose calls to KMS are counted, cold and warm; default 10,000. */
  readonly kmsReads?: number;
  /** After the rounds each subject runs once more and writes a CPU profile there. */
  readonly profileFolder?: string;
}

export interface StoreResults extends Pick<StoreBenchOptions, "operations" | "rounds"> {
  /** Operations per subject that it took. */
  readonly storeWarmUp: number;
  readonly node: string;
  readonly machine: string;
  readonly engine: Engines["name"];
  readonly lanes: number;
  readonly tokenLengths: typeof TOKEN_LENGTHS;
  /** The size of a sealed row. */
  readonly rowBytes: number;
  readonly figures: StoreFigures;
  readonly comparisons: readonly ComparisonResult[];
  readonly kms: KmsFigures;
  readonly measurements: readonly StoreRound[];
}

const KMS_READS = 10_000;
/**
 * @param say prints a line of progress
 * @throws Error when a process ends, or an answer is wrong
 */
export async function runStoreBench(options: StoreBenchOptions, say: (line: string) => void): Promise<StoreResults> {
  const harness = await startStoreHarness();
  try {
    const { rowBytes } = await harness.client.call("open", harness.engines);
    const { measurements, warmUp: storeWarmUp } = await runRounds(harness, options, say);
    const kms = await countKmsCalls(harness, options);
    await profile(harness, options, say);
    const { operations, rounds } = options;
    return {
      operations,
      rounds,
      storeWarmUp,
      rowBytes,
      node: process.version,
      machine: describeMachine(),
      engine: harness.engines.name,
      lanes: LANES,
      tokenLengths: TOKEN_LENGTHS,
      figures: storeFiguresOf(measurements),
      comparisons: compareStoreWithAims(measurements),
      kms,
      measurements,
    };
  } finally {
    await harness.stop();
  }
}

async function runRounds(
  { client }: StoreHarness,
  { operations: count, rounds, storeWarmUp }: StoreBenchOptions,
  say: (line: string) => void,
): Promise<{ readonly measurements: StoreRound[]; readonly warmUp: number }> {
  const run: RunRound<StoreRound> = async (operations, round, report) => {
    const measured: Partial<Record<keyof StoreRound, StoreRound[keyof StoreRound]>> = {};
    for (const subject of orderOf(STORE_SUBJECTS, round)) {
      measured[subject] = await client.call("measure", subject, operations);
      report(progress(STORE_LABELS[subject], measured[subject].cpuMicroseconds));
    }
    return measured as StoreRound;
  };
  const costsOf = (round: StoreRound): Record<string, number> =>
    Object.fromEntries(Object.entries(round).map(([subject, { cpuMicroseconds }]) => [subject, cpuMicroseconds]));
  return measureRounds({ count, rounds, warmUp: storeWarmUp }, run, costsOf, say);
}

/** Cold: a store that has just been opened. Warm: the one of the rounds. */
async function countKmsCalls(
  { client, worker, engines }: StoreHarness,
  { kmsReads: reads = KMS_READS }: StoreBenchOptions,
): Promise<KmsFigures> {
  const before = await worker.call("kmsCalls");
  await client.call("readCold", engines, reads);
  const between = await worker.call("kmsCalls");
  await client.call("measure", "get", reads);
  return { reads, cold: between - before, warm: (await worker.call("kmsCalls")) - between };
}

async function profile(
  { client }: StoreHarness,
  { operations, profileFolder }: StoreBenchOptions,
  say: (line: string) => void,
): Promise<void> {
  for (const subject of profileFolder === undefined ? [] : STORE_SUBJECTS) {
    await client.call("profile", subject, operations, `${profileFolder}/store-${subject}.cpuprofile`);
    say(`profile    ${STORE_LABELS[subject]}`);
  }
}
