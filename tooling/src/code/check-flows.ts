/**
 * docs/flows.md shows each leg of a flow as a column of a table: hop by hop, the file and the
 * symbol that does it. Fails when a file or symbol does not exist, and when a leg takes more than
 * six files to read.
 */
import { tablesIn } from "../tables.ts";
import type { SourceFile } from "../sources.ts";

const MAX_FILES = 6;

/** @returns what is wrong, one sentence each */
export function checkFlows(markdown: string, files: readonly SourceFile[]): string[] {
  const tables = tablesIn(markdown).filter(({ rows }) => rows.flat().some((cell) => /`[\w./-]+\.ts`/.test(cell)));
  const problems = tables.flatMap(({ line, head, rows }) =>
    head.flatMap((title, column) =>
      checkLeg(
        `docs/flows.md:${line} ${title}`,
        rows.map((row) => row[column] ?? ""),
        files,
      ),
    ),
  );
  return tables.length === 0 ? ["docs/flows.md has no table that names files"] : problems;
}

function checkLeg(at: string, cells: readonly string[], files: readonly SourceFile[]): string[] {
  const named = new Set<string>();
  const problems = cells.flatMap((cell) => {
    const words = [...cell.matchAll(/`([^`]+)`/g)].map(([, word = ""]) => word);
    const found: SourceFile[] = [];
    return words.flatMap((word) => {
      if (isFile(word)) {
        const matches = files.filter(({ path }) => path === word || path.endsWith(`/${word}`));
        const [file] = matches;
        if (file === undefined) return [`${at}: no file ${word}`];
        if (matches.length > 1) return [`${at}: ${word} could be ${matches.map(({ path }) => path).join(" or ")}`];
        named.add(file.path);
        found.push(file);
        return [];
      }
      // Symbols are in the cell of their file; other words in backticks (parameters, stages) need
      // no file.
      const symbol = /^([A-Za-z_$][\w$]*)(?:\(\))?$/.exec(word)?.[1];
      if (symbol === undefined || found.length === 0 || found.some(({ names }) => names.has(symbol))) return [];
      return [`${at}: ${found.map(({ path }) => path).join(", ")} has no ${symbol}`];
    });
  });
  return named.size > MAX_FILES ? [...problems, `${at}: ${named.size} files; at most ${MAX_FILES}`] : problems;
}

const isFile = (word: string): boolean => /^[\w./-]+\.ts$/.test(word);
