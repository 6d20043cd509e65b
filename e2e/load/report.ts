/**
 * How figures are printed. Ratios have their quartiles: the extremes of a shared machine say more
 * about its other work.
 */
import type { Figure, Outcome } from "./rounds.ts";
import type { Spread } from "./spread.ts";

const COLUMNS: readonly (readonly [head: string, figure: Figure, of: keyof Spread])[] = [
  ["min", "cpuMicroseconds", "min"],
  ["median", "cpuMicroseconds", "median"],
  ["max", "cpuMicroseconds", "max"],
  ["busy, %", "busyPercent", "median"],
  ["per s", "perSecond", "median"],
  ["p99, ms", "p99Milliseconds", "median"],
];

/**
 * A line for each subject, and one for each further comparison of it: processor times in µs, medians
 * of the other figures, ratios with their quartiles.
 *
 * @param title of the first column
 */
export function outcomeTable(title: string, outcomes: readonly Outcome[]): string {
  const shown = COLUMNS.filter(([, figure]) => outcomes.some(({ figures }) => figures[figure] !== undefined));
  const rows = outcomes.flatMap(({ name, figures, comparisons }) => {
    const cells = shown.map(([, figure, of]) => figures[figure]?.[of].toFixed(0) ?? "");
    const [first = "", ...others] = comparisons.map(({ to, ratio, limit }) => {
      const aim = limit === undefined ? "" : `, ${aimText(ratio.median <= limit, `at most ${limit}`)}`;
      return `${withQuartiles(ratio)} × ${to}${aim}`;
    });
    return [[name, ...cells, first], ...others.map((other) => ["", ...cells.map(() => ""), other])];
  });
  return alignTable([[title, ...shown.map(([head]) => head), "× (quartiles)"], ...rows]);
}

/** `aim NOT MET: at most 1.1` */
export function aimText(isMet: boolean, aim: string): string {
  return `aim ${isMet ? "met" : "NOT MET"}: ${aim}`;
}

/** `1.520 (1.501 to 1.570)` */
function withQuartiles({ lower, median, upper }: Spread): string {
  return `${median.toFixed(3)} (${lower.toFixed(3)} to ${upper.toFixed(3)})`;
}

/** @param rows of cells; the first column and the last are text, the others figures */
export function alignTable(rows: readonly (readonly string[])[]): string {
  const [head = []] = rows;
  const widths = head.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const align = (cell: string, column: number): string => {
    const isText = column === 0 || column === head.length - 1;
    return isText ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
  };
  return rows.map((row) => row.map(align).join("  ").trimEnd()).join("\n");
}
