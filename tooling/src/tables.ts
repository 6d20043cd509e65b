/** Writes the tables of Markdown, and reads them. */

export interface Table {
  /** Where its head is, from 1. */
  readonly line: number;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** @returns every table of a page, its cells without spaces at their ends */
export function tablesIn(page: string): Table[] {
  const lines = page.split("\n").map((line) => /^\s*\|(.*?)\|?\s*$/.exec(line)?.[1]?.split("|"));
  return lines.flatMap((first, at) => {
    if (first === undefined || lines[at - 1] !== undefined) return [];
    const after = lines.slice(at).findIndex((cells) => cells === undefined);
    const of = lines.slice(at, after === -1 ? undefined : at + after) as readonly string[][];
    const [head = [], , ...rows] = of.map((cells) => cells.map((cell) => cell.trim()));
    return [{ line: at + 1, head, rows }];
  });
}

/** A table; pipes and line breaks in cells are escaped. An empty one is the word "None." */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "None.";
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replace(/\s*\n\s*/g, " ").replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}
