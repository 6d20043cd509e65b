/** What a part of a run found out, how it is printed, and its lines of docs/capacity.md. */
import { aimText, alignTable, outcomeTable } from "../report.ts";
import { measureRounds, type Outcome, type Subject } from "../rounds.ts";
import type { Spread } from "../spread.ts";
import type { Measured } from "./size.ts";

export interface Found {
  /** µs of processor time per flow, of all processes of a subject. */
  readonly sections: readonly { readonly title: string; readonly outcomes: readonly Outcome[] }[];
  /** What has no place on the page: rows of cells, the first of which are heads. */
  readonly more?: readonly (readonly string[])[];
  /** As docs/capacity.md has them between its `figures` comments. */
  readonly page: readonly string[];
  /** Lines of the page whose aim is not met. */
  readonly unmet?: readonly string[];
}

/**
 * Measures subjects alternately and compares each with the first: the machine is never the same
 * twice, so a figure means something only beside one of the same round. A subject makes `flows` for
 * each of its processes.
 *
 * @param limit of the ratio to the first, if it has an aim
 */
export async function compareWithFirst(
  subjects: readonly Subject[],
  { flows, rounds, warmUp }: Measured,
  say: (line: string) => void,
  limit?: number,
): Promise<Outcome[]> {
  const [{ name: to } = { name: "" }] = subjects;
  const compared = subjects.map(({ comparisons = [], ...subject }, at) => {
    return { ...subject, comparisons: at === 0 ? [] : [{ to, limit }, ...comparisons] };
  });
  return (await measureRounds(compared, { count: flows, rounds, warmUp }, say)).outcomes;
}

/** The ratio of the last subject: to the first, or the comparison at this place. */
export function lastRatio(outcomes: readonly Outcome[], at = 0): Spread {
  return outcomes.at(-1)!.comparisons[at]!.ratio;
}

/** As text: tables, and which aims are not met. */
export function foundText({ sections, more, unmet = [] }: Found): string {
  const tables = sections.map(({ title, outcomes }) => outcomeTable(`${title}, µs`, outcomes));
  const missed = unmet.map((line) => aimText(false, line));
  return [...tables, ...(more === undefined ? [] : [alignTable(more)]), ...missed].join("\n\n");
}

/** A line of the page. */
export interface PageLine {
  /** What, from where to where if something grows, and the figure. */
  readonly cells: readonly string[];
  readonly aim?: { readonly text: string; readonly isMet: boolean };
}

/** How the processor time of a flow grows: a line with the median ratio. */
export function growthLine(cells: readonly string[], ratio: Spread, limit?: number): PageLine {
  const aim = limit === undefined ? {} : { aim: { text: `${limit} ×`, isMet: ratio.median <= limit } };
  return { cells: [...cells, `${ratio.median.toFixed(2)} ×`], ...aim };
}

/** @returns a line of a table; a cell without text is empty */
export function pageLine(cells: readonly string[]): string {
  return `${cells.map((cell) => (cell === "" ? "| " : `| ${cell} `)).join("")}|`;
}

/** @returns tables of the page, with an empty line before other columns; the last cell names the command */
export function pageLines(part: string, lines: readonly PageLine[]): Pick<Found, "page" | "unmet"> {
  const page = lines.flatMap(({ cells, aim }, at) => {
    const isFirst = cells.length !== lines[at - 1]?.cells.length;
    const line = pageLine([...cells, aim?.text ?? "", isFirst ? `\`npm run scale -- ${part}\`` : "the same"]);
    return isFirst && at > 0 ? ["", line] : [line];
  });
  const unmet = lines.filter(({ aim }) => aim?.isMet === false);
  return { page, unmet: unmet.map(({ cells, aim }) => `${cells[0]}: ${cells.at(-1)}, not ${aim?.text}`) };
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
