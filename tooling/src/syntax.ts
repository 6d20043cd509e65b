/**
 * Reads one TypeScript file into the few facts that the structural rules need: imports, global
 * references, numbers, declarations and test titles. Uses the parser of rolldown (already installed
 * for the bundles), so that a comment or a string never looks like code. Callers: sources.ts;
 * everything else in this folder works on its result.
 */
import { parseSync } from "rolldown/utils";
import { children, isNode, namesDeclaredBy, type Node, walk } from "./syntax-tree.ts";

export interface Import {
  readonly specifier: string;
  /**
   * Names imported at run time, `*` for the whole module or its side effects. Empty: types only,
   * which the compiler erases.
   */
  readonly values: readonly string[];
  readonly dynamic: boolean;
  readonly line: number;
}

export interface Located {
  readonly text: string;
  readonly line: number;
}

/**
 * Two values that are compared: `a === b`, `a !== b`, `a.equals(b)`. Not with a literal, null or
 * undefined.
 */
export interface Comparison extends Located {
  /**
   * The last name of each side: `hash` of `cookie.hash`, `hashOf` of `hashOf(value)`; empty without
   * a name.
   */
  readonly names: readonly string[];
}

/** A named top-level declaration and the lines it spans, including `export`. */
export interface Declaration {
  readonly name: string;
  readonly firstLine: number;
  readonly lastLine: number;
}

export interface Syntax {
  readonly imports: readonly Import[];
  /** `process` as a whole, of which no member is read, and `new Date()`. */
  readonly globals: readonly Located[];
  readonly numbers: readonly Located[];
  readonly declarations: readonly Declaration[];
  readonly comparisons: readonly Comparison[];
  readonly citations: readonly Located[];
  /** Every name declared anywhere in the file, including members of objects and classes. */
  readonly names: ReadonlySet<string>;
  /**
   * Literal first arguments of `it`, `test` and `describe`, including `.each(…)` and the like, and
   * what each row of an `.each([…])` puts first.
   */
  readonly titles: readonly Located[];
}

/** @throws Error when the file does not parse */
export function readSyntax(path: string, text: string): Syntax {
  const { program, module, errors } = parseSync(path, text);
  const [problem] = errors;
  if (problem !== undefined) throw new Error(`${path} does not parse: ${problem.message}`);

  const lineAt = lineCounter(text);
  const root = program as unknown as Node;
  const found = {
    globals: [] as Located[],
    numbers: [] as Located[],
    titles: [] as Located[],
    comparisons: [] as Comparison[],
    names: new Set<string>(),
  };
  const add = (list: Located[], node: Node, value: string): void => {
    list.push({ text: value, line: lineAt(node.start) });
  };
  walk(root, (node) => {
    if (node.type === "Literal" && typeof node["value"] === "number") add(found.numbers, node, String(node["value"]));
    for (const global of globalsIn(node)) add(found.globals, node, global);
    if (node.type === "CallExpression") {
      for (const title of testTitles(node)) add(found.titles, node, title);
    }
    const compared = comparedValues(node);
    if (compared !== undefined) {
      const shown = text.slice(node.start, node.end).replace(/\s+/g, " ");
      found.comparisons.push({ text: shown, line: lineAt(node.start), names: compared.map(lastName) });
    }
    for (const name of namesDeclaredBy(node)) found.names.add(name);
  });

  return {
    ...found,
    citations: citationsIn(text),
    imports: [
      ...[
        ...module.staticImports,
        ...module.staticExports.flatMap(({ entries, start, end }) => {
          const moduleRequest = entries[0]?.moduleRequest ?? undefined;
          return moduleRequest === undefined ? [] : [{ moduleRequest, entries, start, end }];
        }),
      ].map(({ moduleRequest, entries, start, end }) => ({
        specifier: moduleRequest.value,
        values: runtimeNames(text.slice(start, end), entries),
        dynamic: false,
        line: lineAt(start),
      })),
      ...module.dynamicImports.flatMap(({ moduleRequest, start }) => {
        const specifier = /^["'`](.*)["'`]$/.exec(text.slice(moduleRequest.start, moduleRequest.end))?.[1];
        return specifier === undefined ? [] : [{ specifier, values: ["*"], dynamic: true, line: lineAt(start) }];
      }),
    ],
    declarations: children(root).flatMap((statement) => {
      const declared = (statement["declaration"] as Node | null | undefined) ?? statement;
      return namesDeclaredBy(declared).map((name) => ({
        name,
        firstLine: lineAt(statement.start),
        lastLine: lineAt(statement.end),
      }));
    }),
  };
}

/** @returns what a text cites, such as `rfc7636#4.6`: one on a line, after `//=` */
export function citationsIn(text: string): Located[] {
  return text.split("\n").flatMap((line, index) => {
    const cited = /^\s*\/\/=\s*(.*?)\s*$/.exec(line)?.[1];
    return cited === undefined ? [] : [{ text: cited, line: index + 1 }];
  });
}

function globalsIn({ type, ...members }: Node): string[] {
  const isNamed = (value: unknown, name: string): boolean => isNode(value) && value["name"] === name;
  if (
    type === "NewExpression" &&
    isNamed(members["callee"], "Date") &&
    (members["arguments"] as unknown[]).length === 0
  )
    return ["new Date()"];
  if (/^(MemberExpression|TS)/.test(type)) return [];
  const { key: _, id: __, ...values } = members;
  return Object.values(values)
    .flat()
    .filter((value) => isNamed(value, "process"))
    .map(() => "process");
}

interface Entry {
  readonly isType: boolean;
  readonly importName: { readonly kind: string; readonly name: string | null };
}

function runtimeNames(statement: string, entries: readonly Entry[]): string[] {
  if (/^(import|export)\s+type\b/.test(statement)) return [];
  const values = entries
    .filter(({ isType }) => !isType)
    .map(({ importName: { kind, name } }) => name ?? (kind === "Default" ? "default" : "*"));
  // `import { type A } from "x"` still loads x: only the names are erased.
  return values.length === 0 ? ["*"] : values;
}

/** @returns a function from an offset to its line, counted from 1 */
function lineCounter(text: string): (offset: number) => number {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return (offset) => starts.findLastIndex((start) => start <= offset) + 1;
}

/** The literal title of `it("…")`, `it.each(rows)("…")`, `describe(…)`, and the literals that begin the rows. */
function testTitles(call: Node): string[] {
  const rows: Node[] = [];
  let callee = call["callee"];
  while (isNode(callee) && /^(CallExpression|MemberExpression|TaggedTemplateExpression)$/.test(callee.type)) {
    const [table] = (callee["arguments"] as Node[] | undefined) ?? [];
    if (table?.type === "ArrayExpression") rows.push(...(table["elements"] as Node[]));
    callee = callee["callee"] ?? callee["object"] ?? callee["tag"];
  }
  if (!isNode(callee) || !/^(it|test|describe)$/.test(String(callee["name"]))) return [];
  const title = literalText((call["arguments"] as Node[])[0]);
  if (title === undefined) return [];
  const first = (row: Node): Node | undefined =>
    row.type === "ArrayExpression" ? (row["elements"] as Node[])[0] : row;
  return [title, ...rows.flatMap((row) => literalText(first(row)) ?? [])];
}

/** For a template the text before its first placeholder. */
function literalText(node: Node | undefined): string | undefined {
  if (node?.type === "Literal" && typeof node["value"] === "string") return node["value"];
  if (node?.type !== "TemplateLiteral") return undefined;
  return ((node["quasis"] as Node[])[0]?.["value"] as { cooked: string } | undefined)?.cooked;
}

function comparedValues(node: Node): Node[] | undefined {
  const values = sidesOf(node).filter(isNode);
  const isValue = ({ type, name }: Node): boolean => type !== "Literal" && name !== "undefined";
  return values.length === 2 && values.every(isValue) ? values : undefined;
}

function sidesOf(node: Node): unknown[] {
  if (node.type === "BinaryExpression" && /^[!=]==?$/.test(String(node["operator"]))) {
    return [node["left"], node["right"]];
  }
  const callee = node["callee"];
  if (node.type !== "CallExpression" || !isNode(callee) || callee.type !== "MemberExpression") return [];
  const [argument] = node["arguments"] as unknown[];
  return (callee["property"] as Node)["name"] === "equals" ? [callee["object"], argument] : [];
}

/** The name of an identifier, a member, or a callee. */
function lastName(node: Node): string {
  if (node.type === "Identifier") return node["name"] as string;
  const inner = node["property"] ?? node["callee"] ?? node["expression"] ?? node["argument"];
  return isNode(inner) ? lastName(inner) : "";
}
