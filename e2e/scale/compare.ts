/**
 * Measures subjects alternately and compares each with the first: the machine is never the same
 * twice, so a figure means something only beside one of the same round.
 */
import type { Measurement } from "../bench/measure.ts";
import { type Spread, spreadOf } from "../bench/spread.ts";
import { warmUp } from "../bench/warm-up.ts";
import type { Size } from "./size.ts";

export interface Subject {
  readonly name: string;
  /** Over which its work is spread: each of them has to warm up. */
  readonly processes: number;
  measure(flows: number): Promise<Measurement>;
}

export interface Compared {
  readonly name: string;
  /** µs of processor time per flow, of all its processes. */
  readonly cpu: Spread;
  /** To the first subject of the same round. */
  readonly ratio: Spread;
}

/** Every second round runs backwards, so that drift cancels out. */
export async function compareSubjects(
  subjects: readonly Subject[],
  { flows, rounds, warmUp: most }: Pick<Size, "flows" | "rounds" | "warmUp">,
  say: (line: string) => void,
): Promise<Compared[]> {
  const run = async (
    flowsOf: (subject: Subject) => number,
    order: readonly Subject[],
    report: (line: string) => void,
  ): Promise<Record<string, number>> => {
    const costs: Record<string, number> = {};
    for (const subject of order) {
      const { cpuMicroseconds, busy } = await subject.measure(flowsOf(subject));
      costs[subject.name] = cpuMicroseconds;
      report(
        `${subject.name.padEnd(28)} ${cpuMicroseconds.toFixed(0).padStart(6)} µs, busy ${(busy * 100).toFixed(0)} %`,
      );
    }
    return costs;
  };
  await warmUp(most, (count, report) => run(({ processes }) => count * processes, subjects, report), say);
  const measured: Record<string, number>[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const order = round % 2 === 1 ? subjects : subjects.toReversed();
    measured.push(
      await run(
        () => flows,
        order,
        (line) => say(`round ${round}/${rounds}  ${line}`),
      ),
    );
  }
  const first = subjects[0]?.name ?? "";
  const costOf = (round: Readonly<Record<string, number>>, name: string): number => round[name] ?? Number.NaN;
  return subjects.map(({ name }) => ({
    name,
    cpu: spreadOf(measured.map((round) => costOf(round, name))),
    ratio: spreadOf(measured.map((round) => costOf(round, name) / costOf(round, first))),
  }));
}

/** `312 µs`: the median. */
export function microseconds({ median }: Spread): string {
  return `${median.toFixed(0)} µs`;
}
