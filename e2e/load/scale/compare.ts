/**
 * Measures subjects alternately and compares each with the first: the machine is never the same
 * twice, so a figure means something only beside one of the same round.
 */
import { costIn, measureRounds, ratioIn, type Subject } from "../rounds.ts";
import type { Spread } from "../spread.ts";
import { atMost, type Row, times } from "./section.ts";
import type { Measured } from "./size.ts";

export interface ComparedSubject extends Subject {
  /** The name of another subject that it is also compared with. */
  readonly control?: string;
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

/** A subject makes `flows` for each of its processes. */
export async function compareSubjects(
  subjects: readonly ComparedSubject[],
  { flows, rounds, warmUp }: Measured,
  say: (line: string) => void,
): Promise<Compared[]> {
  const { measurements: measured } = await measureRounds(subjects, { count: flows, rounds, warmUp }, say);
  const first = subjects[0]?.name ?? "";
  return subjects.map(({ name, control }) => ({
    name,
    cpu: costIn(measured, name),
    ratio: ratioIn(measured, name, first),
    ...(control !== undefined && { toControl: ratioIn(measured, name, control) }),
  }));
}

/** A row for each; the others have their ratio to the first. @param limit of that ratio, if it has an aim */
export function rowsOf(compared: readonly Compared[], prefix = "", limit?: number): Row[] {
  return compared.map(({ name, cpu, ratio }, index) => ({
    what: `${prefix}${name}`,
    figure: `${cpu.median.toFixed(0)} µs`,
    ...(index > 0 && { ratio, ...(limit !== undefined && { aim: atMost(limit, ratio) }) }),
  }));
}

/** `1.04 ×`: the last to the first. */
export function lastRatio(compared: readonly Compared[]): string {
  return times(compared.at(-1)!.ratio);
}
