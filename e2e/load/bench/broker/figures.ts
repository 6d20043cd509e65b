/**
 * Turns measurements into the figures of the bench: medians, ratios to the floor of the same round,
 * and whether the aims are met.
 */
import type { Measurement } from "../../machine.ts";
import type { Work } from "./measure.ts";
import { aimLine, columns, percent, type Spread, spreadOf, withQuartiles } from "../../spread.ts";
import { type BySubject, type Subject, subjectsOf } from "./subjects.ts";

export type Round = Readonly<Record<Work, BySubject<Measurement>>>;

/** This build against that of another commit: below 1 this one takes less. */
export interface BuildComparison {
  readonly work: Work;
  readonly store: "memory" | "sqlite";
  /** The ratio of the processor times of one round. */
  readonly ratio: Spread;
}

export interface SubjectFigures {
  /** µs of processor time per flow or refresh. */
  readonly cpuMicroseconds: Spread;
  /**
   * Relative to the floor of the same round, so that a temporary slowdown of the machine cancels
   * out.
   */
  readonly ratio: Spread;
  /** Median share of the time that the server was on a processor. */
  readonly busy: number;
}

export type Figures = Readonly<Record<Work, BySubject<SubjectFigures>>>;

export interface Aim {
  readonly work: Work;
  readonly subject: "memory" | "sqlite";
  /** Median ratio to the floor, at most. */
  readonly limit: number;
}

export const WORKS: readonly Work[] = ["flow", "refresh"];

export const AIMS: readonly Aim[] = [
  { work: "flow", subject: "memory", limit: 1.6 },
  { work: "flow", subject: "sqlite", limit: 2.2 },
  { work: "refresh", subject: "memory", limit: 2.2 },
  { work: "refresh", subject: "sqlite", limit: 3 },
];

/** @param rounds at least one */
export function figuresOf(rounds: readonly Round[]): Figures {
  const ofWork = (work: Work): BySubject<SubjectFigures> => {
    const ofSubject = (subject: Subject): SubjectFigures => {
      const of = rounds.flatMap((round) => round[work][subject] ?? []);
      const floor = rounds.map((round) => round[work].floor.cpuMicroseconds);
      return {
        cpuMicroseconds: spreadOf(of.map(({ cpuMicroseconds }) => cpuMicroseconds)),
        ratio: spreadOf(of.map(({ cpuMicroseconds }, index) => cpuMicroseconds / (floor[index] ?? Number.NaN))),
        busy: spreadOf(of.map(({ busy }) => busy)).median,
      };
    };
    const [first] = rounds;
    const subjects = first === undefined ? [] : subjectsOf(first[work]);
    return Object.fromEntries(subjects.map((name) => [name, ofSubject(name)])) as BySubject<SubjectFigures>;
  };
  return { flow: ofWork("flow"), refresh: ofWork("refresh") };
}

/** @returns nothing for rounds without another build */
export function compareBuilds(rounds: readonly Round[]): BuildComparison[] {
  return WORKS.flatMap((work) =>
    (["memory", "sqlite"] as const).flatMap((store) => {
      const ratios = rounds.flatMap((round) => {
        const before = round[work][`${store} before`];
        return before === undefined ? [] : [round[work][store].cpuMicroseconds / before.cpuMicroseconds];
      });
      return ratios.length === 0 ? [] : [{ work, store, ratio: spreadOf(ratios) }];
    }),
  );
}

export interface AimResult extends Aim {
  readonly ratio: Spread;
  readonly met: boolean;
}

export function compareWithAims(figures: Figures): AimResult[] {
  return AIMS.map((aim) => {
    const { ratio } = figures[aim.work][aim.subject];
    return { ...aim, ratio, met: ratio.median <= aim.limit };
  });
}

export function table(figures: Figures): string {
  const lines = ["CPU of the server's process, µs     min   median      max   × floor (quartiles)    busy"];
  for (const work of WORKS) {
    for (const subject of subjectsOf(figures[work])) {
      const of = figures[work][subject];
      if (of === undefined) continue;
      const { cpuMicroseconds: cpu, ratio, busy } = of;
      const name = `${work === "flow" ? "whole flow" : "refresh"}, ${LABELS[subject]}`;
      const times = subject === "floor" ? "" : withQuartiles(ratio);
      lines.push(`${name.padEnd(30)}${columns(cpu, 9)}${times.padStart(22)}${percent(busy)}`);
    }
  }
  return lines.join("\n");
}

const LABELS: Readonly<Record<Subject, string>> = {
  floor: "floor",
  memory: "broker, memory",
  sqlite: "broker, SQLite",
  "memory before": "before, memory",
  "sqlite before": "before, SQLite",
};

export function comparisonLines(comparisons: readonly BuildComparison[]): string {
  return comparisons
    .map(({ work, store, ratio }) => {
      const [lower, median, upper] = [ratio.lower, ratio.median, ratio.upper].map((value) => value.toFixed(3));
      return `${work}, ${LABELS[store]}: ${median} × before (quartiles ${lower} to ${upper})`;
    })
    .join("\n");
}

export function aimLines(aims: readonly AimResult[]): string {
  return aims
    .map(({ work, subject, limit, ratio, met }) => {
      const what = `${work}, ${LABELS[subject]}: ${withQuartiles(ratio)} × the floor`;
      return aimLine(met, what, `at most ${limit}`);
    })
    .join("\n");
}
