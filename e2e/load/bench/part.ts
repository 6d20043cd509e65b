/** A part of the bench: it sets up subjects; they are measured in rounds, compared, and printed as one table. */
import { describeMachine, type Measurement } from "../machine.ts";
import { measureRounds, ratioIn, type Round, type Rounds, type Subject } from "../rounds.ts";
import { aimLine, alignTable, type Spread, spreadOf, withQuartiles } from "../spread.ts";

/** A line of the table. */
export interface BenchSubject extends Subject {
  readonly label: string;
}

/** The first one of a subject is in its line of the table. */
export interface Comparison {
  readonly subject: string;
  /** The subject whose processor time of the same round it is divided by. */
  readonly to: string;
  /** Of `to`, in a line. */
  readonly name: string;
  /** The aim: the median ratio, at most. */
  readonly limit?: number;
}

export interface ComparisonResult extends Comparison {
  /** Each round's own. */
  readonly ratio: Spread;
  /** With a limit. */
  readonly isMet?: boolean;
}

type Figure = Exclude<keyof Measurement, "byProcess">;
/** By subject. */
export type Figures = Readonly<Record<string, Readonly<Partial<Record<Figure, Spread>>>>>;

export interface PartOfBench {
  /** What it is, and the load on it. */
  readonly about: string;
  /** Whose processor time the table holds. */
  readonly measured: string;
  readonly subjects: readonly BenchSubject[];
  readonly comparisons: readonly Comparison[];
  /** After the rounds: what else it finds out, and lines about that. */
  readonly more?: (
    say: (line: string) => void,
  ) => Promise<{ readonly found: object; readonly lines: readonly string[] }>;
  stop(): Promise<void>;
}

export interface PartResults {
  readonly figures: Figures;
  readonly comparisons: readonly ComparisonResult[];
  readonly more: object | undefined;
  /** What is printed. */
  readonly text: string;
}

/**
 * @param asked.profiled under a profiler everything is slower, and not by the same factor
 * @param say prints a line of progress
 * @throws Error when a process ends, or an answer is wrong
 */
export async function runPart(
  part: PartOfBench,
  { profiled, ...asked }: Rounds & { readonly profiled: boolean },
  say: (line: string) => void,
): Promise<PartResults> {
  const { subjects, about } = part;
  try {
    const { measurements, warmUp } = await measureRounds(subjects, asked, say);
    const rest = await part.more?.(say);
    const figures = figuresOf(measurements);
    const comparisons = compare(measurements, part.comparisons);
    const settings = `${about}; ${asked.rounds} rounds of ${asked.count} of each kind after ${warmUp}, ${describeMachine()}`;
    const lines = profiled
      ? ["Run under a profiler: compare nothing with these figures."]
      : comparisonLines(subjects, comparisons);
    const texts = [settings, table(part, { figures, comparisons }), [...lines, ...(rest?.lines ?? [])].join("\n")];
    return { figures, comparisons, more: rest?.found, text: texts.join("\n\n") };
  } finally {
    await part.stop();
  }
}

/** @param rounds at least one */
export function figuresOf(rounds: readonly Round[]): Figures {
  const of = (subject: string): Figures[string] => {
    const all = rounds.flatMap((round) => round[subject] ?? []);
    const names = COLUMNS.map(({ figure }) => figure).filter((figure) => all[0]?.[figure] !== undefined);
    return Object.fromEntries(names.map((name) => [name, spreadOf(all.map((one) => one[name] ?? Number.NaN))]));
  };
  return Object.fromEntries(Object.keys(rounds[0] ?? {}).map((subject) => [subject, of(subject)]));
}

/** @param rounds at least one */
export function compare(rounds: readonly Round[], comparisons: readonly Comparison[]): ComparisonResult[] {
  return comparisons.map((one) => {
    const ratio = ratioIn(rounds, one.subject, one.to);
    return { ...one, ratio, ...(one.limit !== undefined && { isMet: ratio.median <= one.limit }) };
  });
}

interface Column {
  readonly figure: Figure;
  readonly heads: readonly string[];
  readonly cells: (spread: Spread) => readonly number[];
}

const COLUMNS: readonly Column[] = [
  {
    figure: "cpuMicroseconds",
    heads: ["min", "median", "max"],
    cells: ({ min, median, max }) => [min, median, max],
  },
  { figure: "busy", heads: ["busy, %"], cells: ({ median }) => [median * 100] },
  { figure: "perSecond", heads: ["per s"], cells: ({ median }) => [median] },
  { figure: "p99Milliseconds", heads: ["p99, ms"], cells: ({ median }) => [median] },
  { figure: "vendorMicroseconds", heads: ["vendor"], cells: ({ median }) => [median] },
];

/** Processor times in µs, and medians of the other figures. */
export function table(
  { measured, subjects }: Pick<PartOfBench, "measured" | "subjects">,
  { figures, comparisons }: Pick<PartResults, "figures" | "comparisons">,
): string {
  const ratioOf = (name: string): string => {
    const found = comparisons.find(({ subject }) => subject === name);
    return found === undefined ? "" : `${withQuartiles(found.ratio)} × ${found.name}`;
  };
  const shown = COLUMNS.filter(({ figure }) => subjects.some(({ name }) => figures[name]?.[figure] !== undefined));
  const cellsOf = (name: string): string[] =>
    shown.flatMap(({ figure, heads, cells }) => {
      const spread = figures[name]?.[figure];
      return spread === undefined ? heads.map(() => "") : cells(spread).map((value) => value.toFixed(0));
    });
  return alignTable([
    [`CPU of ${measured}, µs`, ...shown.flatMap(({ heads }) => heads), "× (quartiles)"],
    ...subjects.map(({ name, label }) => [label, ...cellsOf(name), ratioOf(name)]),
  ]);
}

/** Aims, and what the table has no place for. */
export function comparisonLines(
  subjects: readonly Pick<BenchSubject, "name" | "label">[],
  comparisons: readonly ComparisonResult[],
): string[] {
  return comparisons.flatMap(({ subject, name, limit, ratio, isMet = false }, at) => {
    const label = subjects.find((one) => one.name === subject)?.label ?? subject;
    if (limit !== undefined) return [aimLine(isMet, `${label}: ${withQuartiles(ratio)} × ${name}`, `at most ${limit}`)];
    if (comparisons.findIndex((one) => one.subject === subject) === at) return [];
    const [lower, middle, upper] = [ratio.lower, ratio.median, ratio.upper].map((value) => value.toFixed(3));
    return [`${label}: ${middle} × ${name} (quartiles ${lower} to ${upper})`];
  });
}
