/**
 * How measurements of one thing spread, and how figures are printed. Ratios are printed with their quartiles: the extremes of a
 * shared machine say more about its other work.
 */

/** Of at least one value. */
export interface Spread {
  readonly min: number;
  /** Lower quartile. */
  readonly lower: number;
  readonly median: number;
  /** Upper quartile. */
  readonly upper: number;
  readonly max: number;
}

/** @param values at least one */
export function spreadOf(values: readonly number[]): Spread {
  const at = (share: number): number => quantileOf(values, share);
  return { min: at(0), lower: at(0.25), median: at(0.5), upper: at(0.75), max: at(1) };
}

/** @param values at least one */
export function quantileOf(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const [low = Number.NaN, high = low] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
  return low + (high - low) * (place - Math.floor(place));
}

/** `1.52 (1.50 to 1.57)`: the median, and the quartiles. */
export function withQuartiles({ lower, median, upper }: Spread): string {
  return `${median.toFixed(2)} (${lower.toFixed(2)} to ${upper.toFixed(2)})`;
}

/** `97 %` */
export function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
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

/** `aim not met  WHAT; aim: AIM` */
export function aimLine(isMet: boolean, what: string, aim: string): string {
  return `${isMet ? "aim met    " : "aim not met"}  ${what}; aim: ${aim}`;
}
