/** What a part of a run found out, and how it is printed. */
import type { Spread } from "../bench/spread.ts";
import { withQuartiles } from "../bench/spread.ts";

/** One line of the table. */
export interface Row {
  readonly what: string;
  /** With its unit. */
  readonly figure: string;
  /** To the first row of the section. */
  readonly ratio?: Spread;
  readonly aim?: { readonly text: string; readonly met: boolean };
}

export interface Section {
  readonly title: string;
  readonly rows: readonly Row[];
}

/** @returns a row's aim that its median ratio is at most this */
export function atMost(limit: number, ratio: Spread): NonNullable<Row["aim"]> {
  return { text: `at most ${limit}`, met: ratio.median <= limit };
}

const [WHAT, FIGURE, RATIO] = [46, 18, 24];

export function sectionText({ title, rows }: Section): string {
  const lines = rows.map(({ what, figure, ratio, aim }) => {
    const times = ratio === undefined ? "" : `${withQuartiles(ratio)} ×`;
    const outcome = aim === undefined ? "" : `  ${aim.met ? "met" : "NOT MET"}: ${aim.text}`;
    return `  ${what.padEnd(WHAT)}${figure.padStart(FIGURE)}${times.padStart(RATIO)}${outcome}`.trimEnd();
  });
  return [title, ...lines].join("\n");
}
