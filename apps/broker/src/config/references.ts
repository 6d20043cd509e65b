/**
 * Resolves `env:NAME` and `file:PATH` instead of any string, over the whole tree and before any
 * check, so that a secret need not be in the file. References do not nest: the text that a
 * reference yields is a plain value.
 */
import { resolve } from "node:path";
import { type Environment, readTextFile, valueOf, withoutFileMarks } from "@oauth-broker/service/configuration";
import { faultOfFile, formatPath, type Path, type Say } from "./problems.ts";
import type { Tree } from "./source.ts";

export interface ReferenceDeps {
  readonly env: Environment;
  /** The folder that relative paths start from. */
  readonly directory: string;
}

const LARGEST_FILE_BYTES = 1024 * 1024;

/**
 * Returns a copy of the tree with references resolved. Omits members without a value (`ca_file:` or
 * `null`), except a vendor without fields, which becomes an empty mapping. A reference that cannot
 * be resolved becomes undefined, and a problem.
 *
 */
export function resolveReferences(tree: Tree, say: Say, deps: ReferenceDeps): Record<string, unknown> {
  const resolveIn = (value: unknown, path: Path): unknown => {
    if (typeof value === "string") return resolveText(value, path, say, deps);
    if (Array.isArray(value)) return value.map((item: unknown, index) => resolveIn(item, [...path, index]));
    if (typeof value !== "object" || value === null) return value;
    const copy: Record<string, unknown> = {};
    for (const [name, member] of Object.entries(value)) {
      const at = [...path, name];
      if (name === "__proto__") say(at, "is not a name a field can have");
      else if (member !== null) copy[name] = resolveIn(member, at);
      else if (path.length === 1 && path[0] === "vendors") copy[name] = {};
    }
    return copy;
  };
  return resolveIn(tree, []) as Record<string, unknown>;
}

/** In these fields `file:` names a file that the broker writes; it is not a reference. */
const PLACES: ReadonlySet<string> = new Set(["keys", "audit"]);

function resolveText(text: string, path: Path, say: Say, deps: ReferenceDeps): string | undefined {
  const [, scheme, rest = ""] = /^(env|file):(.*)$/s.exec(text) ?? [];
  if (scheme === "env") return fromEnvironment(rest, path, say, deps);
  if (scheme === "file" && !PLACES.has(formatPath(path))) return fromFile(rest, path, say, deps);
  return text;
}

function fromEnvironment(name: string, path: Path, say: Say, { env }: ReferenceDeps): string | undefined {
  const value = withoutFileMarks(valueOf(env, name) ?? "");
  if (value !== "") return value;
  const isName = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(name);
  say(
    path,
    isName ? `refers to the environment variable ${name}, which is not set` : "has no variable name after env:",
    "env:NAME of a variable that is set when the broker starts",
  );
  return undefined;
}

function fromFile(name: string, path: Path, say: Say, { directory }: ReferenceDeps): string | undefined {
  let fault: string;
  try {
    const content = readTextFile(resolve(directory, name));
    const value = withoutFileMarks(content);
    if (value !== "" && content.length <= LARGEST_FILE_BYTES) return value;
    fault = value === "" ? "is empty" : "is larger than 1 MiB";
  } catch (error) {
    fault = faultOfFile(error, "read");
  }
  const expected = "file:PATH, relative to the configuration file, of a readable text file";
  say(path, `refers to a file that ${fault}`, expected);
  return undefined;
}
