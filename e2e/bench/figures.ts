/**
 * Turns measurements into the figures of the bench: medians, ratios to the floor of the same round,
 * and whether the aims are met.
 */
import type { Measurement, Work } from "./measure.ts";
import { type Subject, SUBJECTS } from "./subjects.ts";

export type Round = Readonly<Record<Work, Readonly<Record<Subject, Measurement>>>>;

export interface Spread {
  readonly min: number;
  readonly median: number;
  readonly max: number;
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

export type Figures = Readonly<Record<Work, Readonly<Record<Subject, SubjectFigures>>>>;

export interface Aim {
  readonly work: Work;
  readonly subject: Subject;
  /** Median ratio to the floor, at most. */
  readonly limit: number;
}

export const WORKS: readonly Work[] = ["flow", "refresh"];

export const AIMS: readonly Aim[] = [
  { work: "flow", subject: "memory", limit: 1.4 },
  { work: "flow", subject: "sqlite", limit: 2 },
  { work: "refresh", subject: "memory", limit: 1.5 },
  { work: "refresh", subject: "sqlite", limit: 1.5 },
];

/** @param rounds at least one */
export function figuresOf(rounds: readonly Round[]): Figures {
  const ofWork = (work: Work) => {
    const ofSubject = (subject: Subject): SubjectFigures => ({
      cpuMicroseconds: spreadOf(rounds.map((round) => round[work][subject].cpuMicroseconds)),
      ratio: spreadOf(rounds.map((round) => round[work][subject].cpuMicroseconds / round[work].floor.cpuMicroseconds)),
      busy: spreadOf(rounds.map((round) => round[work][subject].busy)).median,
    });
    return { floor: ofSubject("floor"), memory: ofSubject("memory"), sqlite: ofSubject("sqlite") };
  };
  return { flow: ofWork("flow"), refresh: ofWork("refresh") };
}

export interface AimResult extends Aim {
  readonly ratio: number;
  readonly met: boolean;
}

export function compareWithAims(figures: Figures): AimResult[] {
  return AIMS.map((aim) => {
    const ratio = figures[aim.work][aim.subject].ratio.median;
    return { ...aim, ratio, met: ratio <= aim.limit };
  });
}

/** @param values at least one */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (index: number): number => sorted[index] ?? Number.NaN;
  const middle = (sorted.length - 1) / 2;
  return { min: at(0), median: (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2, max: at(sorted.length - 1) };
}

export function table(figures: Figures): string {
  const lines = ["CPU of the server's process, µs     min   median      max   × floor    busy"];
  for (const work of WORKS) {
    for (const subject of SUBJECTS) {
      const { cpuMicroseconds: cpu, ratio, busy } = figures[work][subject];
      const name = `${work === "flow" ? "whole flow" : "refresh"}, ${LABELS[subject]}`;
      const numbers = [cpu.min, cpu.median, cpu.max].map((value) => value.toFixed(0).padStart(9)).join("");
      const times = subject === "floor" ? "" : ratio.median.toFixed(2);
      lines.push(`${name.padEnd(30)}${numbers}${times.padStart(10)}${`${(busy * 100).toFixed(0)} %`.padStart(8)}`);
    }
  }
  return lines.join("\n");
}

const LABELS: Readonly<Record<Subject, string>> = {
  floor: "floor",
  memory: "broker, memory",
  sqlite: "broker, SQLite",
};

export function aimLines(aims: readonly AimResult[]): string {
  return aims
    .map(({ work, subject, limit, ratio, met }) => {
      const what = `${work}, ${LABELS[subject]}: ${ratio.toFixed(2)} × the floor`;
      return `${met ? "aim met    " : "aim not met"}  ${what}; aim: at most ${limit}`;
    })
    .join("\n");
}
