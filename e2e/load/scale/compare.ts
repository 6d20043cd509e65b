/**
 * Measures subjects alternately and compares each with the first: the machine is never the same
 * twice, so a figure means something only beside one of the same round.
 */
import type { MeasurementByProcess } from "../machine.ts";
import { measureRounds, orderOf, type RunRound } from "../rounds.ts";
import { percent, type Spread, spreadOf } from "../spread.ts";
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
 * A subject makes `flows` for each of its processes; it is warm when every one of them is.
 */
export async function compareSubjects(
  subjects: readonly Subject[],
  { flows, rounds, warmUp }: Pick<Size, "flows" | "rounds" | "warmUp">,
  say: (line: string) => void,
): Promise<Compared[]> {
  const run: RunRound<Record<string, MeasurementByProcess>> = async (flowsOfEach, round, report) => {
    const measured: Record<string, MeasurementByProcess> = {};
    for (const { name, processes, measure } of orderOf(subjects, round)) {
      const one = await measure(flowsOfEach * processes);
      measured[name] = one;
      report(`${name.padEnd(28)} ${one.cpuMicroseconds.toFixed(0).padStart(6)} µs, busy ${percent(one.busy).trim()}`);
    }
    return measured;
  };
  const { measurements: measured } = await measureRounds({ count: flows, rounds, warmUp }, run, costsByProcess, say);
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
