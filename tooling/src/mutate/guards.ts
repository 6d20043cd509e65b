/**
 * Mutations by rule: the guard directly below a citation (`//= rfc7636#4.6`) is a defence that need
 * not be listed. It is an `if` that throws or returns, or a statement that is an expression; it is
 * taken out, and a test whose title carries the citation has to notice. Callers: main.ts, which adds
 * them to the list.
 */
import { posix } from "node:path";
import { parseSync } from "rolldown/utils";
import { rowsIn } from "../pages/requirements.ts";
import { sectionsIn } from "../pages/standards-index.ts";
import { EVERYTHING, parseSource, PRODUCT, readTexts, ROOT, type SourceFile } from "../sources.ts";
import { children, type Node } from "../syntax-tree.ts";
import type { Mutation } from "./mutation.ts";

const CITATION = /^\s*\/\/= (\S+)\s*$/;

/** @returns the mutations of a repository, in the order of its files */
export function readGuards(root: string = ROOT): Mutation[] {
  const texts = readTexts(EVERYTHING, root);
  const product = new Set(readTexts(PRODUCT, root).keys());
  const guarded = [...texts].flatMap(([path, text]) => {
    if (!product.has(path) || !text.includes("//=")) return [];
    const file = parseSource(path, text);
    return file.kind === "product" ? [file] : [];
  });
  const tests = [...texts].flatMap(([path, text]) =>
    path.endsWith(".test.ts") && !path.endsWith(".twin.test.ts") && (text.includes("#") || rowsIn(text).length > 0)
      ? [parseSource(path, text)]
      : [],
  );
  return guardsOf(guarded, tests);
}

/** @param tests files whose titles may carry a citation; twins prove nothing here */
export function guardsOf(files: readonly SourceFile[], tests: readonly SourceFile[]): Mutation[] {
  const carrying = new Map<string, Set<string>>();
  for (const { path, titles } of tests)
    for (const { text } of titles)
      for (const section of sectionsIn(text)) carrying.set(section, (carrying.get(section) ?? new Set()).add(path));
  return files.flatMap((file) =>
    guardsIn(file).map(({ sections, symbol, statement, find }) => {
      const found = new Set(sections.flatMap((section) => [...(carrying.get(section) ?? [])]));
      return {
        defence: `${sections.join(" ")} in ${symbol}: ${statement}`,
        rows: sections.flatMap((section) => rowsIn(section)),
        file: file.path,
        find,
        replace: `${find.slice(0, find.length - statement.length)};`,
        tests: nearest(file.path, [...found]),
        byRule: true,
      };
    }),
  );
}

interface Guard {
  readonly sections: readonly string[];
  readonly symbol: string;
  /** As it is in the file. */
  readonly statement: string;
  /** From the citation to the end of the statement. */
  readonly find: string;
}

function guardsIn({ path, text, declarations }: SourceFile): Guard[] {
  const starts = new Map<number, Node>();
  const visit = (node: Node): void => {
    if (isGuard(node)) starts.set(node.start, node);
    children(node).forEach(visit);
  };
  visit(parseSync(path, text).program as unknown as Node);
  const lines = text.split("\n");
  const guards: Guard[] = [];
  let offset = 0;
  let begun: { readonly at: number; readonly sections: string[] } | undefined;
  for (const [index, line] of lines.entries()) {
    const section = CITATION.exec(line)?.[1];
    const node = starts.get(offset + line.length - line.trimStart().length);
    if (section !== undefined) {
      begun ??= { at: offset, sections: [] };
      begun.sections.push(section);
    } else if (!line.trimStart().startsWith("//")) {
      if (begun !== undefined && node !== undefined) {
        const symbol = declarations.find(({ lastLine }) => lastLine >= index + 1)?.name ?? "";
        const statement = text.slice(node.start, node.end);
        guards.push({ sections: begun.sections, symbol, statement, find: text.slice(begun.at, node.end) });
      }
      begun = undefined;
    }
    offset += line.length + 1;
  }
  return guards;
}

function isGuard(node: Node): boolean {
  if (node.type === "ExpressionStatement") return true;
  if (node.type !== "IfStatement" || (node["alternate"] ?? null) !== null) return false;
  const consequent = node["consequent"] as Node;
  const last = consequent.type === "BlockStatement" ? (consequent["body"] as Node[]).at(-1) : consequent;
  return last?.type === "ThrowStatement" || last?.type === "ReturnStatement";
}

/**
 * Tests with the file's own name first, then those that share most folders with it: the first that
 * notices ends the search.
 */
function nearest(path: string, tests: readonly string[]): string[] {
  const folders = posix.dirname(path).split("/");
  const name = posix.basename(path, ".ts");
  const distance = (test: string): number => {
    const others = posix.dirname(test).split("/");
    const shared = folders.findIndex((folder, index) => folder !== others[index]);
    const isNamesake = posix.basename(test).split(".", 1)[0] === name;
    return (isNamesake ? 0 : 100) + folders.length - (shared === -1 ? folders.length : shared);
  };
  return tests.toSorted((a, b) => distance(a) - distance(b) || (a < b ? -1 : 1));
}
