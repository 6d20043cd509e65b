/**
 * Mutations by rule: the guard directly below a citation (`//= rfc7636#4.6`) is a defence that need
 * not be listed. It is an `if` that throws or returns, or a statement that is an expression; it is
 * taken out, and a test whose title carries the citation has to notice. Callers: main.ts, which adds
 * them to the list.
 */
import { parseSync } from "rolldown/utils";
import { rowsIn } from "../pages/requirements.ts";
import { parseSource, PRODUCT, readTexts, ROOT, type SourceFile } from "../sources.ts";
import { children, type Node } from "../syntax-tree.ts";
import type { Mutation } from "./mutation.ts";
import type { Tests } from "./tests.ts";

const CITATION = /^\s*\/\/= (\S+)\s*$/;

/** @returns the mutations of a repository, in the order of its files */
export function readGuards(tests: Tests, root: string = ROOT): Mutation[] {
  const guarded = [...readTexts(PRODUCT, root)].flatMap(([path, text]) => {
    const file = text.includes("//=") ? parseSource(path, text) : undefined;
    return file?.kind === "product" ? [file] : [];
  });
  return guardsOf(guarded, tests);
}

/** @returns the mutations of some files */
export function guardsOf(files: readonly SourceFile[], tests: Tests): Mutation[] {
  return files.flatMap((file) =>
    guardsIn(file).map(({ sections, symbol, statement, find }) => ({
      defence: `${sections.join(" ")} in ${symbol}: ${statement}`,
      rows: sections.flatMap((section) => rowsIn(section)),
      file: file.path,
      find,
      replace: `${find.slice(0, find.length - statement.length)};`,
      tests: tests.carrying(file.path, sections),
      isOneEnough: true,
      byRule: true,
    })),
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
