/** Walks an ESTree, and knows which names its nodes declare. */

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

/** Visits a node and everything inside it. */
export function walk(node: Node, visit: (node: Node) => void): void {
  visit(node);
  for (const child of children(node)) walk(child, visit);
}
