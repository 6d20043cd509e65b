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

export const children = (node: Node): Node[] =>
  Object.values(node).flatMap((value) => (Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : []));

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

const isFunction = ({ type }: Node): boolean =>
  /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(type);

/**
 * The names declared in this scope: imports, variables, functions, classes, parameters, catch
 * parameters; not those of inner functions.
 */
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
