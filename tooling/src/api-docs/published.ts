/**
 * What the published packages export: every name of every entry of `publishConfig.exports`, with
 * the declaration it comes from. Re-exports are followed to that declaration, into another package
 * too. Its text is the compiler's: rolldown's isolated declarations, which keep types and
 * docstrings as they are written and leave bodies and private members out. page.ts writes and
 * checks the pages.
 */
import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { isolatedDeclarationSync } from "rolldown/experimental";
import { parseSync } from "rolldown/utils";
import { readEntries, readTexts, ROOT, targetOf } from "../sources.ts";
import { citationsIn } from "../syntax.ts";
import { children, isNode, namesDeclaredBy, type Node } from "../syntax-tree.ts";

export type Kind = "function" | "class" | "constant" | "interface" | "type";

export interface Declaration {
  readonly name: string;
  readonly kind: Kind;
  /** From the root, with `/`. */
  readonly path: string;
  /**
   * Without `export`, `declare`, bodies and private members; the docstrings of members stay. One of
   * each overload.
   */
  readonly signatures: readonly string[];
  /**
   * Between the comment's marks, without the stars. Empty if the declaration has no docstring.
   */
  readonly docstring: string;
  /**
   * For a type that reads them off a constant (`keyof typeof STATUS`): the strings it means.
   */
  readonly members: readonly string[];
  /** What the declaration cites, `rfc7636#4.6`, in the order of its lines. */
  readonly citations: readonly string[];
  /** What in its type only inference would give: the signature cannot show it. */
  readonly untyped: readonly string[];
}

/** A name of an entry. It may differ from the name of what is declared: `export { a as b }`. */
export interface Exported {
  readonly name: string;
  /** The specifier instead, if the name comes from a package of others. */
  readonly from: Declaration | string;
}

export interface PublishedEntry {
  /** As it is imported: `@oauth-broker/oauth-core/egress`. */
  readonly specifier: string;
  /** What the first comment of its file says. */
  readonly docstring: string;
  /** Values, then types, each in alphabetical order. */
  readonly exports: readonly Exported[];
}

export interface PublishedPackage {
  /** The name of its folder, and so of its page: `oauth-core`. */
  readonly folder: string;
  readonly name: string;
  readonly description: string;
  readonly entries: readonly PublishedEntry[];
}

interface Manifest {
  readonly name: string;
  readonly description?: string;
  readonly private?: boolean;
  readonly exports?: Readonly<Record<string, string>>;
  readonly publishConfig?: { readonly exports?: Readonly<Record<string, unknown>> };
}

/** For tools that read a package's version; it has no names. */
const MANIFEST_ENTRY = "./package.json";
/** Published for `npm run dev` of scaffolded projects. Its interface is not promised. */
const WITHOUT_PAGE = "packages/simulators/package.json";

/**
 * @throws Error when an entry's file is not there, does not parse, or exports what it does not name
 */
export function readPublished(root: string = ROOT): PublishedPackage[] {
  const modules = createModules(root);
  return [...readTexts(["packages/*/package.json"], root)].flatMap(([path, text]) => {
    const manifest = JSON.parse(text) as Manifest;
    const entries = Object.keys(manifest.publishConfig?.exports ?? {}).filter((entry) => entry !== MANIFEST_ENTRY);
    if (manifest.private === true || entries.length === 0 || path === WITHOUT_PAGE) return [];
    const folder = posix.dirname(path);
    return [
      {
        folder: posix.basename(folder),
        name: manifest.name,
        description: manifest.description ?? "",
        entries: entries.sort().map((entry) => {
          const file = posix.join(folder, manifest.exports?.[entry] ?? "");
          const specifier = posix.join(manifest.name, entry);
          return { specifier, docstring: modules.fileDocstring(file), exports: exportsOf(file, modules) };
        }),
      },
    ];
  });
}

function exportsOf(path: string, modules: Modules): Exported[] {
  const isType = ({ from }: Exported): boolean =>
    typeof from !== "string" && (from.kind === "interface" || from.kind === "type");
  return modules
    .exportedNames(path)
    .flatMap((name) => modules.find(path, name).map((from) => ({ name, from })))
    .sort((a, b) => Number(isType(a)) - Number(isType(b)) || (sortKey(a) < sortKey(b) ? -1 : 1));
}

/** Upper and lower case beside each other, the same on every machine. */
const sortKey = ({ name }: Exported): string => `${name.toLowerCase()} ${name}`;

type Modules = ReturnType<typeof createModules>;

interface Binding {
  readonly name: string;
  readonly specifier: string;
}

interface Module {
  readonly text: string;
  readonly comments: readonly Comment[];
  /** Exported name → the name in this file, or in another. */
  readonly exported: ReadonlyMap<string, string | Binding>;
  readonly imported: ReadonlyMap<string, Binding>;
  /** Name in this file → what declares it. */
  readonly declared: ReadonlyMap<string, readonly Declaration[]>;
}

interface Comment {
  readonly type: string;
  readonly value: string;
  readonly start: number;
  readonly end: number;
}

function createModules(root: string) {
  const entries = readEntries(root);
  const read = new Map<string, Module>();
  const moduleAt = (path: string): Module => {
    const module = read.get(path) ?? parseModule(path, readFileSync(join(root, path), "utf8"));
    read.set(path, module);
    return module;
  };
  const follow = (path: string, { name, specifier }: Binding): (Declaration | string)[] => {
    const file = targetOf(path, specifier, entries);
    return file === undefined ? [specifier] : find(file, name);
  };
  /** What an exported name means; a value and a type of the same name are two. */
  const find = (path: string, name: string): (Declaration | string)[] => {
    const { exported, imported, declared } = moduleAt(path);
    const local = exported.get(name);
    if (local === undefined) throw new Error(`${path} exports no ${name}`);
    if (typeof local !== "string") return follow(path, local);
    const binding = imported.get(local);
    return binding === undefined ? [...(declared.get(local) ?? [])] : follow(path, binding);
  };
  return {
    exportedNames: (path: string): string[] => [...moduleAt(path).exported.keys()],
    fileDocstring: (path: string): string => {
      const { text, comments } = moduleAt(path);
      return plainText(headOf(text, comments)?.value ?? "");
    },
    find,
  };
}

/** @param path for messages, and for where its declarations are said to be */
export function parseModule(path: string, text: string): Module {
  const { module, comments, program, errors } = parseSync(path, text);
  const [problem] = errors;
  if (problem !== undefined) throw new Error(`${path} does not parse: ${problem.message}`);
  const exported = new Map(
    module.staticExports
      .flatMap(({ entries }) => entries)
      .map(({ exportName, importName, localName, moduleRequest }): [string, string | Binding] => {
        const { name } = exportName;
        if (name === null) throw new Error(`${path} has an export * or a default export: name each`);
        if (moduleRequest === null) return [name, localName.name ?? name];
        return [name, { name: importName.name ?? name, specifier: moduleRequest.value }];
      }),
  );
  const imported = new Map(
    module.staticImports.flatMap(({ moduleRequest, entries }) =>
      entries.map(({ importName, localName }): [string, Binding] => [
        localName.value,
        { name: importName.name ?? "default", specifier: moduleRequest.value },
      ]),
    ),
  );
  const declared = declarationsOf(path, text, comments, program as unknown as Node);
  return { text, comments, exported, imported, declared };
}

const KINDS: Readonly<Record<string, Kind>> = {
  FunctionDeclaration: "function",
  TSDeclareFunction: "function",
  ClassDeclaration: "class",
  VariableDeclaration: "constant",
  TSInterfaceDeclaration: "interface",
  TSTypeAliasDeclaration: "type",
};

/**
 * A member as `[inspect.custom]` is left out of the signature: the runtime calls it, no reader
 * does.
 */
const COMPUTED_NAME = "TS9038";

function declarationsOf(
  path: string,
  text: string,
  comments: readonly Comment[],
  program: Node,
): Map<string, Declaration[]> {
  const { code, errors } = isolatedDeclarationSync(path, text);
  const signatures = namedIn(parseSync(path.replace(/\.ts$/, ".d.ts"), code).program as unknown as Node);
  const found = new Map<string, Declaration[]>();
  for (const { statement, name, kind } of namedIn(program)) {
    const others = found.get(name) ?? [];
    // The first of several overloads carries the docstring of all.
    if (others.some((other) => other.kind === kind)) continue;
    const above = docstringAbove(statement.start, text, comments);
    const untyped = errors.filter(
      ({ message, labels }) =>
        labels.some(({ start }) => start >= statement.start && start < statement.end) &&
        !(kind === "class" && message.startsWith(COMPUTED_NAME)),
    );
    const own = signatures
      .filter((one) => one.name === name && one.kind === kind)
      .map(({ node }) =>
        code
          .slice(node.start, node.end)
          .replace(/^declare /, "")
          .replace(/\n\s*#private;/, ""),
      );
    const cited = citationsIn(text.slice((above ?? statement).start, statement.end));
    const declaration: Declaration = {
      name,
      kind,
      path,
      signatures: own,
      members: membersOf(own.join("\n"), program),
      docstring: above === undefined ? "" : plainText(above.value),
      citations: [...new Set(cited.map((one) => one.text))],
      untyped: untyped.map(({ message }) => message),
    };
    found.set(name, [...others, declaration]);
  }
  return found;
}

const declaredBy = (statement: Node): Node => (isNode(statement["declaration"]) ? statement["declaration"] : statement);

/** What the statements of a file declare, each name by itself. */
function namedIn(program: Node) {
  return children(program).flatMap((statement) => {
    const node = declaredBy(statement);
    const kind = KINDS[node.type];
    return kind === undefined ? [] : namesDeclaredBy(node).map((name) => ({ statement, node, kind, name }));
  });
}

const isDocstring = ({ type, value }: Comment): boolean => type === "Block" && value.startsWith("*");

/** The docstring above a statement, with nothing but line comments between them. */
function docstringAbove(start: number, text: string, comments: readonly Comment[]): Comment | undefined {
  const last = comments.filter((comment) => isDocstring(comment) && comment.end <= start).at(-1);
  if (last === undefined || last === headOf(text, comments)) return undefined;
  return /^(?:\s*\/\/.*)*\s*$/.test(text.slice(last.end, start)) ? last : undefined;
}

/**
 * The comment on the whole file: what it opens with, unless a declaration follows on the next line.
 */
function headOf(text: string, comments: readonly Comment[]): Comment | undefined {
  const first = comments.find((comment) => isDocstring(comment));
  if (first === undefined || !/^(?:#!.*)?\s*$/.test(text.slice(0, first.start))) return undefined;
  return /^\r?\n(?:\r?\n|import\b|export [*{]|export type {)/.test(text.slice(first.end)) ? first : undefined;
}

/**
 * The strings behind `keyof typeof NAME` and `(typeof NAME)[number]`, if the constant is in the
 * same file.
 */
function membersOf(signature: string, program: Node): string[] {
  const [, keys, elements] = /^type \w+ = (?:keyof typeof (\w+)|\(?typeof (\w+)\)?\[number\]);$/.exec(signature) ?? [];
  const name = keys ?? elements;
  const declarators = children(program).flatMap((statement) => children(declaredBy(statement)));
  const constant = declarators.find(({ id }) => isNode(id) && id["name"] === name);
  let value = constant?.["init"];
  while (isNode(value) && isNode(value["expression"])) value = value["expression"];
  if (name === undefined || !isNode(value)) return [];
  return children(value)
    .map((one) => (one.type === "Property" ? (one["key"] as Node) : one))
    .map((one) => one["name"] ?? one["value"])
    .filter((one) => typeof one === "string");
}

function plainText(comment: string): string {
  return comment
    .slice(1)
    .split("\n")
    .map((line) => line.replace(/^\s*\*? ?/, "").trimEnd())
    .join("\n")
    .trim();
}
