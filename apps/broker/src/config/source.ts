/**
 * Finds the configuration: the file that BROKER_CONFIG names, broker.yaml in the start directory,
 * or neither; or, if the sandbox is asked for, none of them. Returns the tree as written; schema/
 * interprets it. No message quotes the file, because it can contain secrets.
 */
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type Environment, isLoopbackName, readTextFile, valueOf } from "@oauth-broker/service/configuration";
import { LineCounter, parseAllDocuments, type YAMLError } from "yaml";
import { configError, faultOfFile, type Problem, type Say } from "./problems.ts";

/** The file as written: mappings, lists and plain values. */
export type Tree = Readonly<Record<string, unknown>>;

export interface Source {
  /** Absolute path of the file; absent without a file. */
  readonly file?: string;
  /** The folder that relative paths start from. */
  readonly directory: string;
  readonly sandbox: boolean;
  readonly tree: Tree;
  /** What there is of a configuration, and is not read. */
  readonly ignored: readonly string[];
}

/**
 * When the sandbox runs: `default`, without a configuration; `always`; `absent`, never, because the
 * built file has none.
 */
export type SandboxUse = "default" | "always" | "absent";

/** Variables that override a field of the file. */
export const OVERRIDES = {
  BASE_URL: ["base_url"],
  STORE: ["store"],
  HOST: ["listen", "host"],
  PORT: ["listen", "port"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/**
 * @param cwd the start directory, absolute
 * @throws ConfigError at once for a file that cannot be read or is not YAML, because nothing in it
 *   can be checked
 */
export function readSource(env: Environment, cwd: string, use: SandboxUse, say: Say): Source {
  const named = valueOf(env, "BROKER_CONFIG");
  const file = named === undefined ? join(cwd, "broker.yaml") : resolve(cwd, named);
  const isThere = named !== undefined || existsSync(file);
  const sandbox: Source = { directory: cwd, sandbox: true, tree: {}, ignored: [] };
  if (use === "always") {
    const ignored = [...(isThere ? [named === undefined ? "broker.yaml" : "BROKER_CONFIG"] : []), ...deploymentIn(env)];
    return { ...sandbox, ignored };
  }
  if (!isThere) {
    const meant = deploymentIn(env);
    if (meant.length === 0 && use === "default") return sandbox;
    sayNoFile(meant, say);
    return { ...sandbox, sandbox: false };
  }
  const text = readText(file, named === undefined ? "broker.yaml" : "BROKER_CONFIG");
  return { file, directory: dirname(file), sandbox: false, tree: parseYaml(text, file), ignored: [] };
}

/** The variables that are set and mean a deployment: with them a missing file is a mistake. */
function deploymentIn(env: Environment): string[] {
  const host = valueOf(env, "HOST");
  const meant = ["BASE_URL", "STORE"].filter((name) => valueOf(env, name) !== undefined);
  return host === undefined || isLoopbackName(host) ? meant : [...meant, "HOST"];
}

function sayNoFile(meant: readonly string[], say: Say): void {
  const why =
    meant.length === 0
      ? "this file has no sandbox: `npm start` in the repository runs it"
      : `with ${meant.join(" and ")} set this is a deployment, not the sandbox, and its clients can only come from a file`;
  const problem = `is not set and there is no broker.yaml in the start directory; ${why}`;
  const expected = "the path of a YAML file with at least base_url (or BASE_URL) and clients";
  say("BROKER_CONFIG", problem, expected, EXAMPLE);
}

const EXAMPLE = "/etc/broker/broker.yaml";

function readText(file: string, path: string): string {
  try {
    return readTextFile(file);
  } catch (error) {
    const problem = `names ${file}, which ${faultOfFile(error, "read")}`;
    throw configError(file, [{ path, problem, expected: "a readable YAML file", example: EXAMPLE }]);
  }
}

function parseYaml(text: string, file: string): Tree {
  const lines = new LineCounter();
  const documents = [...parseAllDocuments(text, { lineCounter: lines, prettyErrors: false, strict: true })];
  const [document] = documents;
  if (document === undefined) return {};
  const faults: readonly YAMLError[] = documents.flatMap(({ errors, warnings }) => [...errors, ...warnings]);
  const problems: Problem[] = faults.map(({ pos, code }) => {
    const { line, col } = lines.linePos(pos[0]);
    return { path: file, problem: `line ${line}, column ${col}: ${yamlFault(code)}`, expected: "YAML 1.2" };
  });
  if (documents.length > 1) {
    problems.push({ path: file, problem: "holds more than one YAML document", expected: "one document" });
  }
  if (problems.length > 0) throw configError(file, problems);
  return document.contents === null ? {} : toTree(document, file);
}

function toTree(document: { toJS: () => unknown }, file: string): Tree {
  let tree: unknown;
  try {
    tree = document.toJS();
    // Fails if an alias is inside its own value.
    JSON.stringify(tree);
  } catch (error) {
    const isUndefined = error instanceof ReferenceError && error.message.startsWith("Unresolved alias");
    const problem = isUndefined ? "has an alias without its anchor" : "has aliases that expand without end";
    const expected = isUndefined ? "quotes around a value that begins with *" : "values without aliases";
    throw configError(file, [{ path: file, problem, expected }]);
  }
  if (typeof tree === "object" && tree !== null && !Array.isArray(tree)) return tree as Tree;
  const example = "base_url: https://broker.example.com";
  throw configError(file, [
    { path: file, problem: "does not hold a mapping", expected: "`key: value` lines", example },
  ]);
}

/** Replaces the messages of the library, which quote the text. */
function yamlFault(code: string): string {
  if (code === "DUPLICATE_KEY") return "the same key twice in one mapping";
  if (code === "TAB_AS_INDENT") return "a tab as indentation: YAML takes spaces alone";
  if (code === "BAD_INDENT") return "indentation that does not fit";
  if (code === "BAD_SCALAR_START") return "a value that begins with this character needs quotes";
  if (code === "MISSING_CHAR") return "a closing quote, bracket or brace is missing, or a space after a colon or comma";
  if (code === "TAG_RESOLVE_FAILED") return "an unknown tag (a value that begins with ! needs quotes)";
  if (code === "BLOCK_AS_IMPLICIT_KEY") return 'a value that ends with a colon needs quotes: store: "memory:"';
  return `not valid YAML (${code.toLowerCase().replaceAll("_", " ")})`;
}
