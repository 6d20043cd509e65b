/**
 * Measures subjects alternately and compares each with the first: the machine is never the same
 * twice, so a figure means something only beside one of the same round.
 */
import type { MeasurementByProcess } from "../bench/broker/measure.ts";
import { type Spread, spreadOf } from "../spread.ts";
import { warmUp } from "../warm-up.ts";
import type { Size } from "./size.ts";

export interface Subject {
  readonly name: string;
  /** Over which its work is spread: each of them has to warm up, and gets as much of it as one. */
  readonly processes: number;
  /** The name of another subject that it is also compared with. */
  readonly control?: string;
  measure(flows: number): Promise<MeasurementByProcess>;
}

export interface Compared {
  readonly name: string;
  /** µs of processor time per flow, of all its processes. */
  readonly cpu: Spread;
  /** To the first subject of the same round. */
  readonly ratio: Spread;
  /** To its control. */
  readonly toControl?: Spread;
}

/**
 * Every second round runs backwards, so that drift cancels out. A subject makes `flows` for each of
 * its processes; it is warm when every one of them is.
 */
export async function compareSubjects(
  subjects: readonly Subject[],
  { flows, rounds, warmUp: most }: Pick<Size, "flows" | "rounds" | "warmUp">,
  say: (line: string) => void,
): Promise<Compared[]> {
  const run = async (
    flowsOfEach: number,
    order: readonly Subject[],
    report: (line: string) => void,
  ): Promise<Record<string, MeasurementByProcess>> => {
    const measured: Record<string, MeasurementByProcess> = {};
    for (const { name, processes, measure } of order) {
      const one = await measure(flowsOfEach * processes);
      measured[name] = one;
      report(
        `${name.padEnd(28)} ${one.cpuMicroseconds.toFixed(0).padStart(6)} µs, busy ${(one.busy * 100).toFixed(0)} %`,
      );
    }
    return measured;
  };
  await warmUp(most, async (count, report) => costsByProcess(await run(count, subjects, report)), say);
  const measured: Record<string, MeasurementByProcess>[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const order = round % 2 === 1 ? subjects : subjects.toReversed();
    measured.push(await run(flows, order, (line) => say(`round ${round}/${rounds}  ${line}`)));
  }
  const first = subjects[0]?.name ?? "";
  const costOf = (round: (typeof measured)[number], name: string): number => round[name]?.cpuMicroseconds ?? Number.NaN;
  const ratio = (name: string, base: string): Spread =>
    spreadOf(measured.map((round) => costOf(round, name) / costOf(round, base)));
  return subjects.map(({ name, control }) => ({
    name,
    cpu: spreadOf(measured.map((round) => costOf(round, name))),
    ratio: ratio(name, first),
    ...(control !== undefined && { toControl: ratio(name, control) }),
  }));
}

function costsByProcess(measured: Readonly<Record<string, MeasurementByProcess>>): Record<string, number> {
  const costs = Object.entries(measured).flatMap(([name, { byProcess }]) =>
    byProcess.map((cost, number) => [`${name} ${number}`, cost] as const),
  );
  return Object.fromEntries(costs);
}

/** `312 µs`: the median. */
export function microseconds({ median }: Spread): string {
  return `${median.toFixed(0)} µs`;
}
