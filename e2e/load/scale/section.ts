/** What a part of a run found out, how it is printed, and its lines of docs/capacity.md. */
import { alignTable, type Spread, withQuartiles } from "../spread.ts";

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

export interface Found {
  readonly sections: readonly Section[];
  /** As docs/capacity.md has them between its `figures` comments. */
  readonly page: readonly string[];
}

/** @returns a row's aim that its median ratio is at most this */
export function atMost(limit: number, ratio: Spread): NonNullable<Row["aim"]> {
  return { text: `at most ${limit}`, met: ratio.median <= limit };
}

export function sectionText({ title, rows }: Section): string {
  const cells = rows.map(({ what, figure, ratio, aim }) => {
    const outcome = aim === undefined ? "" : `${aim.met ? "met" : "NOT MET"}: ${aim.text}`;
    return [`  ${what}`, figure, ratio === undefined ? "" : `${withQuartiles(ratio)} ×`, outcome];
  });
  return `${title}\n${alignTable(cells)}`;
}

/** @returns a line of a table; a cell without text is empty */
export function pageLine(cells: readonly string[]): string {
  return `${cells.map((cell) => (cell === "" ? "| " : `| ${cell} `)).join("")}|`;
}

/** @returns lines of tables of the page, with an empty one before other columns; the last cell names the command */
export function pageLines(part: string, lines: readonly (readonly string[])[]): string[] {
  return lines.flatMap((cells, at) => {
    const isFirst = cells.length !== lines[at - 1]?.length;
    const line = pageLine([...cells, isFirst ? `\`npm run scale -- ${part}\`` : "the same"]);
    return isFirst && at > 0 ? ["", line] : [line];
  });
}

/** `1.04 ×`: the median. */
export function times({ median }: Spread): string {
  return `${median.toFixed(2)} ×`;
}

/** `1,000` */
export function grouped(count: number): string {
  return count.toLocaleString("en-US");
}

/** `241 to 248`, or `0` if all are the same. */
export function range(values: readonly number[]): string {
  const [least, most] = [Math.min(...values), Math.max(...values)].map((value) => grouped(Math.round(value)));
  return least === most ? `${least}` : `${least} to ${most}`;
}
