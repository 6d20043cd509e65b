/**
 * Reads one TypeScript file into the few facts the structural rules ask about: imports, global references, numbers,
 * declarations and test titles. Uses the parser of rolldown (already here for the bundles), so a comment or a string
 * never looks like code. Callers: sources.ts; everything else in this folder works on its result.
 */
import { parseSync } from "rolldown/utils";

export interface Import {
  readonly specifier: string;
  /** Names imported at run time, `*` for the whole module or its side effects. Empty: types only, which the compiler erases. */
  readonly values: readonly string[];
  readonly dynamic: boolean;
  readonly line: number;
}

export interface Located {
  readonly text: string;
  readonly line: number;
}

/** A named top-level declaration and the lines it spans, `export` included. */
export interface Declaration {
  readonly name: string;
  readonly firstLine: number;
  readonly lastLine: number;
}

export interface Syntax {
  readonly imports: readonly Import[];
  /** Dotted paths of names nothing in the file declares: `process.env.HOME`, `Date.now`, `new Date()`, `fetch`. */
  readonly globals: readonly Located[];
  readonly numbers: readonly Located[];
  readonly declarations: readonly Declaration[];
  /** Every name declared anywhere in the file, members of objects and classes included. */
  readonly names: ReadonlySet<string>;
  /** Literal first arguments of `it`, `test` and `describe`, `.each(…)` and the like included. */
  readonly titles: readonly Located[];
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [member: string]: unknown;
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
    names: new Set<string>(),
  };
  const add = (list: Located[], node: Node, value: string): void => {
    list.push({ text: value, line: lineAt(node.start) });
  };
  walkScoped(root, new Set(), {
    global: (node, dotted) => add(found.globals, node, dotted),
    node: (node) => {
      if (node.type === "Literal" && typeof node["value"] === "number") add(found.numbers, node, String(node["value"]));
      if (node.type === "CallExpression") {
        const title = testTitle(node);
        if (title !== undefined) add(found.titles, node, title);
      }
      for (const name of namesDeclaredBy(node)) found.names.add(name);
    },
  });

  return {
    ...found,
    imports: [
      ...module.staticImports.map(({ moduleRequest, entries, start, end }) => ({
        specifier: moduleRequest.value,
        values: runtimeNames(text.slice(start, end), entries),
        dynamic: false,
        line: lineAt(start),
      })),
      ...module.staticExports.flatMap(({ entries, start, end }) => {
        const specifier = entries[0]?.moduleRequest?.value;
        if (specifier === undefined) return [];
        return [
          { specifier, values: runtimeNames(text.slice(start, end), entries), dynamic: false, line: lineAt(start) },
        ];
      }),
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
  return (offset) => {
    const next = starts.findIndex((start) => start > offset);
    return next === -1 ? starts.length : next;
  };
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string";

const children = (node: Node): Node[] =>
  Object.values(node).flatMap((value) => (Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : []));

/** The names a declaration binds, and the key of an object or class member. */
function namesDeclaredBy(node: Node): string[] {
  switch (node.type) {
    case "VariableDeclaration":
      return (node["declarations"] as Node[]).flatMap((one) => boundNames(one["id"]));
    case "FunctionDeclaration":
    case "ClassDeclaration":
    case "TSInterfaceDeclaration":
    case "TSTypeAliasDeclaration":
      return boundNames(node["id"]);
    case "Property":
    case "MethodDefinition":
    case "PropertyDefinition":
    case "TSMethodSignature":
    case "TSPropertySignature":
      return boundNames(node["key"]);
    default:
      return [];
  }
}

/** The names a pattern binds: `a`, `{ a, b: [c] }`, `a = 1`, `...a`. */
function boundNames(pattern: unknown): string[] {
  if (!isNode(pattern)) return [];
  switch (pattern.type) {
    case "Identifier":
      return [pattern["name"] as string];
    case "ObjectPattern":
      return (pattern["properties"] as Node[]).flatMap((one) => boundNames(one["value"] ?? one["argument"]));
    case "ArrayPattern":
      return (pattern["elements"] as unknown[]).flatMap(boundNames);
    case "AssignmentPattern":
      return boundNames(pattern["left"]);
    case "RestElement":
      return boundNames(pattern["argument"]);
    default:
      return [];
  }
}

const isFunction = ({ type }: Node): boolean =>
  /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(type);

/** Names declared in this scope: imports, variables, functions, classes, parameters, catch parameters; not those of inner functions. */
function scopeNames(scope: Node): string[] {
  const own = (node: Node): string[] => {
    if (node.type === "ImportDeclaration")
      return (node["specifiers"] as Node[]).flatMap((one) => boundNames(one["local"]));
    if (node.type === "CatchClause") return [...boundNames(node["param"]), ...children(node).flatMap(own)];
    if (/^(VariableDeclaration|FunctionDeclaration|ClassDeclaration)$/.test(node.type)) {
      return [...namesDeclaredBy(node), ...(isFunction(node) ? [] : children(node).flatMap(own))];
    }
    return isFunction(node) ? [] : children(node).flatMap(own);
  };
  const parameters = isFunction(scope) ? (scope["params"] as Node[]).flatMap(boundNames) : [];
  return [...parameters, ...children(scope).flatMap(own)];
}

interface Visit {
  /** A name that no scope around it declares, with the members read from it. */
  global(node: Node, dotted: string): void;
  node(node: Node): void;
}

function walkScoped(node: Node, bound: ReadonlySet<string>, visit: Visit): void {
  visit.node(node);
  const inner = node.type === "Program" || isFunction(node) ? new Set([...bound, ...scopeNames(node)]) : bound;
  const into = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(into);
    else if (isNode(value)) walkScoped(value, inner, visit);
  };

  switch (node.type) {
    case "Identifier":
      if (!bound.has(node["name"] as string)) visit.global(node, node["name"] as string);
      return;
    case "MemberExpression": {
      const dotted = dottedPath(node);
      if (dotted === undefined) break;
      if (!bound.has(dotted.split(".")[0] ?? "")) visit.global(node, dotted.replace(/^globalThis\./, ""));
      return;
    }
    case "NewExpression":
      if (
        dottedPath(node["callee"]) === "Date" &&
        (node["arguments"] as unknown[]).length === 0 &&
        !bound.has("Date")
      ) {
        visit.global(node, "new Date()");
      }
      break;
    case "ImportDeclaration":
    case "ExportSpecifier":
      return;
    case "TSAsExpression":
    case "TSSatisfiesExpression":
    case "TSNonNullExpression":
      into(node["expression"]);
      return;
    default:
      if (node.type.startsWith("TS")) return;
  }
  for (const [member, value] of Object.entries(node)) {
    const plainName = (member === "key" || member === "property") && node["computed"] === false;
    if (!plainName && member !== "label") into(value);
  }
}

/** `a.b.c` for a chain of plain member reads from a name, else undefined. */
function dottedPath(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  if (node.type === "Identifier") return node["name"] as string;
  if (node.type !== "MemberExpression" || node["computed"] === true) return undefined;
  const object = dottedPath(node["object"]);
  return object === undefined ? undefined : `${object}.${(node["property"] as Node)["name"] as string}`;
}

/** The literal title of `it("…")`, `it.each(rows)("…")`, `describe(…)`; of a template the text before its first hole. */
function testTitle(call: Node): string | undefined {
  let callee = call["callee"];
  while (isNode(callee) && /^(CallExpression|MemberExpression|TaggedTemplateExpression)$/.test(callee.type)) {
    callee = callee["callee"] ?? callee["object"] ?? callee["tag"];
  }
  if (!isNode(callee) || !/^(it|test|describe)$/.test(String(callee["name"]))) return undefined;
  const [title] = call["arguments"] as Node[];
  if (title?.type === "Literal" && typeof title["value"] === "string") return title["value"];
  if (title?.type !== "TemplateLiteral") return undefined;
  return ((title["quasis"] as Node[])[0]?.["value"] as { cooked: string } | undefined)?.cooked;
}
