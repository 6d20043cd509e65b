/**
 * Turns measurements into the figures of the bench: medians, ratios to the floor of the same round
 * (with OpenID: to the same without), and whether the aims are met.
 */
import type { BrokerMeasurement } from "./measure.ts";
import { plainWorkOf, type Work, WORKS } from "./works.ts";
import { aimLine, columns, percent, type Spread, spreadOf, withQuartiles } from "../../spread.ts";
import { type BySubject, type Subject, subjectsOf } from "./subjects.ts";

export type Round = Readonly<Record<Work, BySubject<BrokerMeasurement>>>;

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
  /** Of the vendor's process. */
  readonly vendorMicroseconds: Spread;
  /**
   * Relative to the floor of the same round, or with OpenID to the same subject without, so that a
   * temporary slowdown of the machine cancels out.
   */
  readonly ratio: Spread;
  /** Median share of the time that the server was on a processor. */
  readonly busy: number;
}

export type Figures = Readonly<Record<Work, BySubject<SubjectFigures>>>;

export interface Aim {
  readonly work: Work;
  readonly subject: "memory" | "sqlite";
  /** Median ratio at most: to the floor, or with OpenID to the same without. */
  readonly limit: number;
}

export const AIMS: readonly Aim[] = [
  { work: "flow", subject: "memory", limit: 1.6 },
  { work: "flow", subject: "sqlite", limit: 2.2 },
  { work: "refresh", subject: "memory", limit: 2.2 },
  { work: "refresh", subject: "sqlite", limit: 3 },
  { work: "flow-oidc", subject: "memory", limit: 1.3 },
  { work: "flow-oidc", subject: "sqlite", limit: 1.3 },
  { work: "refresh-oidc", subject: "memory", limit: 1.5 },
  { work: "refresh-oidc", subject: "sqlite", limit: 1.5 },
];

/** @param rounds at least one */
export function figuresOf(rounds: readonly Round[]): Figures {
  const ofWork = (work: Work): BySubject<SubjectFigures> => {
    const ofSubject = (subject: Subject): SubjectFigures => {
      const of = rounds.flatMap((round) => round[work][subject] ?? []);
      const base = rounds.map((round) => baseOf(round, work, subject));
      return {
        cpuMicroseconds: spreadOf(of.map(({ cpuMicroseconds }) => cpuMicroseconds)),
        ratio: spreadOf(of.map(({ cpuMicroseconds }, index) => cpuMicroseconds / (base[index] ?? Number.NaN))),
        vendorMicroseconds: spreadOf(of.map(({ vendorMicroseconds }) => vendorMicroseconds)),
        busy: spreadOf(of.map(({ busy }) => busy)).median,
      };
    };
    const [first] = rounds;
    const subjects = first === undefined ? [] : subjectsOf(first[work], work);
    return Object.fromEntries(subjects.map((name) => [name, ofSubject(name)])) as BySubject<SubjectFigures>;
  };
  return Object.fromEntries(WORKS.map((work) => [work, ofWork(work)])) as Figures;
}

function baseOf(round: Round, work: Work, subject: Subject): number | undefined {
  const plainWork = plainWorkOf(work);
  return (plainWork === undefined ? round[work].floor : round[plainWork][subject])?.cpuMicroseconds;
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
  const lines = ["CPU of the server's process, µs     min   median      max   × floor (quartiles)    busy  vendor"];
  for (const work of WORKS) {
    if (work === "flow-oidc")
      lines.push("at a vendor with ID tokens                                × without (quartiles)");
    for (const subject of subjectsOf(figures[work], work)) {
      const of = figures[work][subject];
      if (of === undefined) continue;
      const { cpuMicroseconds: cpu, ratio, busy, vendorMicroseconds: vendor } = of;
      const name = `${(plainWorkOf(work) ?? work) === "flow" ? "whole flow" : "refresh"}, ${LABELS[subject]}`;
      const times = subject === "floor" ? "" : withQuartiles(ratio);
      lines.push(
        `${name.padEnd(30)}${columns(cpu, 9)}${times.padStart(22)}${percent(busy)}${vendor.median.toFixed(0).padStart(8)}`,
      );
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
      const base = plainWorkOf(work) === undefined ? "the floor" : "without";
      const what = `${work}, ${LABELS[subject]}: ${withQuartiles(ratio)} × ${base}`;
      return aimLine(met, what, `at most ${limit}`);
    })
    .join("\n");
}
