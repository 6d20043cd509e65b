/**
 * Mutations by rule: what stands directly below a citation (`//= rfc7636#4.6`) is a defence that need
 * not be listed. An expression, a throw and an `if` are taken out; an `if` that leaves before a throw
 * or a return always leaves. In what is returned or named, `a && b` or `a || b` loses each side,
 * except one that asks whether there is a value; `a ? b : c` has each branch always, unless it asks
 * for a type; another condition is always true, and never. A test whose title carries the citation
 * has to notice. Callers: main.ts, which adds them to the list.
 */
import { parseSync } from "rolldown/utils";
import { rowsIn } from "../pages/requirements.ts";
import { PRODUCT, readSources, ROOT, type SourceFile } from "../sources.ts";
import { children, isNode, type Node } from "../syntax-tree.ts";
import type { Mutation } from "./mutation.ts";
import type { Tests } from "./tests.ts";

/** @returns the mutations of a repository, in the order of its files */
export function readGuards(tests: Tests, root: string = ROOT): Mutation[] {
  const product = readSources(PRODUCT, root).filter(({ kind }) => kind === "product");
  return guardsOf(product, tests);
}

/** @returns the mutations of some files */
export function guardsOf(files: readonly SourceFile[], tests: Tests): Mutation[] {
  return files
    .filter(({ citations }) => citations.length > 0)
    .flatMap((file) =>
      citedStatements(file).flatMap(({ begin, sections, symbol, node, next }) => {
        const find = file.text.slice(begin, node.end);
        return withoutDefence(node, next, file.text).map(({ part, start, end, replace }) => ({
          defence: `${sections.join(" ")} in ${symbol}: ${part}`,
          rows: sections.flatMap((section) => rowsIn(section)),
          file: file.path,
          find,
          replace: find.slice(0, start - begin) + replace + find.slice(end - begin),
          tests: tests.carrying(file.path, sections),
          isOneEnough: true,
          byRule: true,
        }));
      }),
    );
}

interface Cited {
  readonly sections: readonly string[];
  readonly symbol: string;
  /** Where the citation begins. */
  readonly begin: number;
  readonly node: Node;
  /** The statement behind it. */
  readonly next: Node | undefined;
}

function citedStatements({ path, text, declarations, citations }: SourceFile): Cited[] {
  const starts = new Map<number, Pick<Cited, "node" | "next">>();
  const visit = (node: Node): void => {
    const body = node["body"];
    if (Array.isArray(body))
      body.forEach((one: Node, at) => starts.set(one.start, { node: one, next: body[at + 1] as Node }));
    children(node).forEach(visit);
  };
  visit(parseSync(path, text).program as unknown as Node);
  const sections = new Map(citations.map((one) => [one.line, one.text]));
  const cited: Cited[] = [];
  let offset = 0;
  let begun: { readonly begin: number; readonly sections: string[] } | undefined;
  for (const [index, line] of text.split("\n").entries()) {
    const section = sections.get(index + 1);
    const found = starts.get(offset + line.length - line.trimStart().length);
    if (section !== undefined) {
      begun ??= { begin: offset, sections: [] };
      begun.sections.push(section);
    } else if (!line.trimStart().startsWith("//")) {
      const symbol = declarations.find(({ lastLine }) => lastLine >= index + 1)?.name ?? "";
      if (begun !== undefined && found !== undefined) cited.push({ ...begun, symbol, ...found });
      begun = undefined;
    }
    offset += line.length + 1;
  }
  return cited;
}

interface Change {
  /** What is taken out, as it is in the file. */
  readonly part: string;
  readonly start: number;
  readonly end: number;
  readonly replace: string;
}

/** A statement that refuses goes; one that says what is allowed loses each of its conditions. */
function withoutDefence(node: Node, next: Node | undefined, text: string): Change[] {
  const textOf = ({ start, end }: Node): string => text.slice(start, end);
  const change = (from: Node, replace: string, part = textOf(from)): Change => ({
    part,
    start: from.start,
    end: from.end,
    replace,
  });
  if (/^(Expression|Throw)Statement$/.test(node.type)) return [change(node, ";")];
  if (node.type === "IfStatement") {
    if ((node["alternate"] ?? null) !== null) return [];
    const condition = node["test"] as Node;
    const last = lastOf(node["consequent"] as Node)?.type ?? "";
    const leaves = /^(Return|Continue)Statement$/.test(last);
    const always = change(condition, "true");
    if (leaves && next?.type === "ThrowStatement") return [always];
    return [change(node, ";"), ...(leaves && next?.type === "ReturnStatement" ? [always] : [])];
  }
  return decided(node).flatMap((value) => {
    if (value.type === "ConditionalExpression") {
      const { left } = value["test"] as Node;
      if (isNode(left) && left["operator"] === "typeof") return [];
      const [yes, no] = [value["consequent"] as Node, value["alternate"] as Node];
      return [change(value, textOf(no), textOf(yes)), change(value, textOf(yes), textOf(no))];
    }
    if (isCondition(value))
      return ["true", "false"].map((always) => change(value, always, `${textOf(value)} is ${always}`));
    return operandsOf(value).flatMap(({ operand, parent, other }) =>
      isOfTypes(operand) ? [] : [change(parent, textOf(other), textOf(operand))],
    );
  });
}

const lastOf = (node: Node): Node | undefined =>
  node.type === "BlockStatement" ? (node["body"] as Node[]).at(-1) : node;

/** What is returned or named. */
function decided(node: Node): Node[] {
  if (node.type === "ReturnStatement") return node["argument"] === null ? [] : [node["argument"] as Node];
  if (node.type !== "VariableDeclaration") return [];
  return (node["declarations"] as Node[]).flatMap(({ init }) => {
    const value = init as Node | null;
    const body = value?.type === "ArrowFunctionExpression" ? (value["body"] as Node) : value;
    return body ?? [];
  });
}

/** A comparison, or a call of what is named as a question. */
function isCondition({ type, operator, callee }: Node): boolean {
  if (type === "BinaryExpression") return /^([!=]==|[<>]=?)$/.test(String(operator));
  const { name, property } = (callee ?? {}) as { readonly name?: string; readonly property?: Node };
  return type === "CallExpression" && QUESTION.test(String(name ?? property?.["name"]));
}

const QUESTION = /^(?:is[A-Z]\w*|has|includes|some|every|test)$/;

interface Operand {
  readonly operand: Node;
  readonly parent: Node;
  /** What stays. */
  readonly other: Node;
}

/** The operands of `&&` and `||`, at any depth. */
function operandsOf(node: Node): Operand[] {
  if (node.type === "ParenthesizedExpression") return operandsOf(node["expression"] as Node);
  if (node.type !== "LogicalExpression" || node["operator"] === "??") return [];
  const [left, right] = [node["left"] as Node, node["right"] as Node];
  const inside = (operand: Node, other: Node): Operand[] => {
    const own = operandsOf(operand);
    return own.length > 0 ? own : [{ operand, parent: node, other }];
  };
  return [...inside(left, right), ...inside(right, left)];
}

/** Asks whether there is a value at all: without it the next condition has nothing to read. */
const isOfTypes = ({ type, right }: Node): boolean =>
  type === "BinaryExpression" &&
  /^(Identifier|Literal)$/.test((right as Node).type) &&
  /^(undefined|null)$/.test(String((right as Node)["name"] ?? (right as Node)["value"]));
