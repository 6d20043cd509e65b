/**
 * Measures subjects in rounds, each of which measures every one of them once, and before them warms
 * them up until a piece of work costs the same again and again. The engine continues to compile, in
 * threads of the measured process, for some 12,000 flows; a service that runs for days has finished
 * that. How long it takes depends on the code and on the machine, so it is measured.
 */
import type { Measurement } from "./machine.ts";
import { type Spread, spreadOf } from "./spread.ts";

export interface Rounds {
  /** Operations of each subject, per round. */
  readonly count: number;
  readonly rounds: number;
  /** Operations of each subject before the first round, at most; 0 = none. */
  readonly warmUp: number;
}

export interface Subject {
  /** In tables. */
  readonly name: string;
  readonly comparisons?: readonly Comparison[];
  /**
   * Over which its work is spread: each of them has to warm up, and gets as much of it as one.
   * Default 1.
   */
  readonly processes?: number;
  measure(count: number): Promise<Measurement>;
}

export interface Comparison {
  /** The subject whose processor time of the same round it is divided by. */
  readonly to: string;
  /** The aim: the median ratio, at most. */
  readonly limit?: number | undefined;
}

export type Figure = Exclude<keyof Measurement, "byProcess">;

/** The figures of one subject, over all rounds. */
export interface Outcome {
  readonly name: string;
  readonly figures: Readonly<Partial<Record<Figure, Spread>>>;
  /** Of each round's own ratio, so that a temporary slowdown of the machine cancels out. */
  readonly comparisons: readonly (Comparison & { readonly ratio: Spread })[];
}

/** By the names of the subjects. */
export type Round = Readonly<Record<string, Measurement>>;

/**
 * @param say prints a line of progress
 * @returns also how many operations of each subject the warm-up took
 */
export async function measureRounds(
  subjects: readonly Subject[],
  { count, rounds, warmUp: most }: Rounds,
  say: (line: string) => void,
) {
  const run = async (ofEach: number, number: number, report: (line: string) => void): Promise<Round> => {
    const round: Record<string, Measurement> = {};
    // Every second round runs backwards, so that drift cancels out.
    for (const { name, processes = 1, measure } of number % 2 === 0 ? subjects.toReversed() : subjects) {
      const one = await measure(ofEach * processes);
      round[name] = one;
      report(
        `${name.padEnd(40)} ${one.cpuMicroseconds.toFixed(0).padStart(6)} µs, busy ${one.busyPercent.toFixed(0)} %`,
      );
    }
    return round;
  };
  const warmedUp = await warmUp(most, async (block, report) => costsOf(await run(block, 1, report)), say);
  const measured: Round[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    measured.push(await run(count, round, (line) => say(`round ${round}/${rounds}  ${line}`)));
  }
  return { outcomes: outcomesOf(subjects, measured), warmUp: warmedUp };
}

/** A subject is warm when every one of its processes is. */
function costsOf(round: Round): Record<string, number> {
  const costs = Object.entries(round).flatMap(([name, { cpuMicroseconds, byProcess = [cpuMicroseconds] }]) =>
    byProcess.map((cost, number) => [`${name} ${number}`, cost] as const),
  );
  return Object.fromEntries(costs);
}

/** @param rounds at least one */
export function outcomesOf(subjects: readonly Omit<Subject, "measure">[], rounds: readonly Round[]): Outcome[] {
  const valuesOf = (name: string, figure: Figure): number[] =>
    rounds.map((round) => round[name]?.[figure] ?? Number.NaN);
  return subjects.map(({ name, comparisons = [] }) => {
    const cost = valuesOf(name, "cpuMicroseconds");
    const names = Object.keys(rounds[0]?.[name] ?? {}).filter((figure) => figure !== "byProcess") as Figure[];
    return {
      name,
      figures: Object.fromEntries(names.map((figure) => [figure, spreadOf(valuesOf(name, figure))])),
      comparisons: comparisons.map((one) => {
        const costOfOther = valuesOf(one.to, "cpuMicroseconds");
        return { ...one, ratio: spreadOf(cost.map((own, round) => own / (costOfOther[round] ?? Number.NaN))) };
      }),
    };
  });
}

/** Blocks without a new lowest figure, after which a subject counts as steady. */
const STEADY_BLOCKS = 3;
/** A figure is a new lowest one only when it is lower by this share. */
const STEADY_SHARE = 0.02;
/** The length of an upper bound. */
const BLOCKS = 15;

/**
 * @param most operations of each kind, at most; 0 = none
 * @param run runs so many, and returns the processor time of each kind of operation by its name
 * @param say prints a line of progress
 * @returns how many operations of each kind it took
 */
export async function warmUp(
  most: number,
  run: (count: number, say: (line: string) => void) => Promise<Readonly<Record<string, number>>>,
  say: (line: string) => void,
): Promise<number> {
  const block = Math.ceil(most / BLOCKS);
  const blocks: Readonly<Record<string, number>>[] = [];
  while (blocks.length * block < most && !isSteady(blocks)) {
    const number = blocks.length + 1;
    blocks.push(await run(block, (line) => say(`warm-up ${number}  ${line}`)));
  }
  return blocks.length * block;
}

/**
 * Whether no subject has a lower figure in the last blocks than in those before.
 *
 * @param blocks the processor times of each block, by subject
 */
export function isSteady(blocks: readonly Readonly<Record<string, number>>[]): boolean {
  const [before, last] = [blocks.slice(0, -STEADY_BLOCKS), blocks.slice(-STEADY_BLOCKS)];
  const [first] = before;
  if (first === undefined) return false;
  return Object.keys(first).every((subject) => {
    const lowest = (some: typeof blocks): number => Math.min(...some.map((block) => block[subject] ?? Infinity));
    return lowest(last) >= lowest(before) * (1 - STEADY_SHARE);
  });
}
