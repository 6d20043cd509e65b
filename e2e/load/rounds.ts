/**
 * Measures in rounds, each of which measures everything once, and before them warms servers up until a piece of work costs the same again and again. The engine continues to
 * compile, in threads of the measured process, for some 12,000 flows; a service that runs for days
 * has finished that. How long it takes depends on the code and on the machine, so it is measured.
 */

export interface Rounds {
  /** Operations of each kind, per round. */
  readonly count: number;
  readonly rounds: number;
  /** Operations of each kind before the first round, at most; 0 = none. */
  readonly warmUp: number;
}

/** @param number 0 while it warms up */
export type RunRound<Round> = (count: number, number: number, say: (line: string) => void) => Promise<Round>;

/**
 * @param costsOf the processor time of each kind of operation in a round, by its name
 * @param say prints a line of progress
 * @returns the rounds, and how many operations of each kind the warm-up took
 */
export async function measureRounds<Round>(
  { count, rounds, warmUp: most }: Rounds,
  run: RunRound<Round>,
  costsOf: (round: Round) => Readonly<Record<string, number>>,
  say: (line: string) => void,
): Promise<{ readonly measurements: Round[]; readonly warmUp: number }> {
  const warmedUp = await warmUp(most, async (block, report) => costsOf(await run(block, 0, report)), say);
  const measurements: Round[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    measurements.push(await run(count, round, (line) => say(`round ${round}/${rounds}  ${line}`)));
  }
  return { measurements, warmUp: warmedUp };
}

/** Every second round runs backwards, so that drift cancels out. */
export function orderOf<Name>(names: readonly Name[], round: number): readonly Name[] {
  return round % 2 === 0 && round > 0 ? names.toReversed() : names;
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
