/**
 * Walks an ESTree and knows the names that each scope declares, to distinguish a global from a
 * parameter of the same name.
 */

export interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [member: string]: unknown;
}

export const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string";

export function children(node: Node): Node[] {
  const found: Node[] = [];
  for (const value of Object.values(node)) {
    if (isNode(value)) found.push(value);
    else if (Array.isArray(value)) for (const one of value) if (isNode(one)) found.push(one);
  }
  return found;
}

/** The names that a declaration binds, and the key of an object or class member. */
export function namesDeclaredBy(node: Node): string[] {
  switch (node.type) {
    case "VariableDeclaration":
      return (node["declarations"] as Node[]).flatMap((one) => boundNames(one["id"]));
    case "FunctionDeclaration":
    case "TSDeclareFunction":
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

/** The names that a pattern binds: `a`, `{ a, b: [c] }`, `a = 1`, `...a`. */
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

const FUNCTIONS: ReadonlySet<string> = new Set([
  "FunctionDeclaration",
  "FunctionExpression",
  "ArrowFunctionExpression",
]);
const isFunction = ({ type }: Node): boolean => FUNCTIONS.has(type);

/**
 * The names declared in this scope: imports, variables, functions, classes, parameters, catch
 * parameters; not those of inner functions.
 */
function scopeNames(scope: Node): string[] {
  const names: string[] = isFunction(scope) ? (scope["params"] as Node[]).flatMap(boundNames) : [];
  const collect = (node: Node): void => {
    if (node.type === "ImportDeclaration") {
      for (const one of node["specifiers"] as Node[]) names.push(...boundNames(one["local"]));
      return;
    }
    if (node.type === "CatchClause") names.push(...boundNames(node["param"]));
    else if (DECLARATIONS.has(node.type)) names.push(...namesDeclaredBy(node));
    if (!isFunction(node)) for (const child of children(node)) collect(child);
  };
  for (const child of children(scope)) collect(child);
  return names;
}

const DECLARATIONS: ReadonlySet<string> = new Set(["VariableDeclaration", "FunctionDeclaration", "ClassDeclaration"]);

export interface Visit {
  /** A name that no enclosing scope declares, with the members read from it. */
  global(node: Node, dotted: string): void;
  node(node: Node): void;
}

export function walkScoped(node: Node, bound: ReadonlySet<string>, visit: Visit): void {
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
