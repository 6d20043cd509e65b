/**
 * Finds the TypeScript files of the repository and classifies them. Everything in this folder
 * starts here.
 */
import { globSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { readSyntax, type Syntax } from "./syntax.ts";

export const ROOT: string = fileURLToPath(new URL("../..", import.meta.url));

export interface SourceFile extends Syntax {
  /** From the root, with `/`. */
  readonly path: string;
  readonly text: string;
  /**
   * `product` ships; `testing` serves tests (contract suites, fakes, simulators); `test` is a test;
   * `example` is a program as others write it, with its own time, environment and connections.
   */
  readonly kind: "product" | "testing" | "test" | "example";
}

/** The folders of product code. */
export const PRODUCT: readonly string[] = ["packages/*/src/**/*.ts", "apps/*/src/**/*.ts"];
/** Programs around our packages. */
export const EXAMPLES: readonly string[] = ["examples/*/*.ts"];
/** All folders that may contain a test, and the examples. */
export const EVERYTHING: readonly string[] = [...PRODUCT, ...EXAMPLES, "e2e/**/*.ts", "tooling/src/**/*.ts"];

function kindOf(path: string): SourceFile["kind"] {
  if (path.endsWith(".test.ts") || path.startsWith("e2e/")) return "test";
  if (path.startsWith("examples/")) return "example";
  return path.includes("/testing/") || path.startsWith("packages/simulators/") ? "testing" : "product";
}

/** By path, the file as it was parsed last: most checks read the same files. */
const parsed = new Map<string, SourceFile>();

export function parseSource(path: string, text: string): SourceFile {
  const known = parsed.get(path);
  if (known?.text === text) return known;
  const file = { path, text, kind: kindOf(path), ...readSyntax(path, text) };
  parsed.set(path, file);
  return file;
}

/** @param patterns globs from the root; `node_modules` and `dist` are never entered */
export function readSources(patterns: readonly string[], root: string = ROOT): SourceFile[] {
  return [...readTexts(patterns, root)].map(([path, text]) => parseSource(path, text));
}

/** @returns path → text, without parsing it; patterns as of `readSources` */
export function readTexts(patterns: readonly string[], root: string = ROOT): Map<string, string> {
  const paths = globSync(patterns, { cwd: root, exclude: (name) => /(^|[/\\])(node_modules|dist)$/.test(name) });
  return new Map(
    paths
      .map((path) => path.replaceAll("\\", "/"))
      .sort()
      .map((path) => [path, readFileSync(join(root, path), "utf8")]),
  );
}

/**
 * The exports of each workspace package: "@oauth-broker/oauth-core/http" →
 * "packages/oauth-core/src/http/answers.ts".
 */
export function readEntries(root: string = ROOT): Map<string, string> {
  const entries = new Map<string, string>();
  for (const [manifest, text] of readTexts(["packages/*/package.json", "apps/*/package.json"], root)) {
    const { name, exports = {} } = JSON.parse(text) as { name: string; exports?: Record<string, string> };
    for (const [entry, file] of Object.entries(exports))
      entries.set(posix.join(name, entry), posix.join(manifest, "..", file));
  }
  return entries;
}

/** @returns the path of what a file imports; undefined for a package of others */
export function targetOf(from: string, specifier: string, entries: ReadonlyMap<string, string>): string | undefined {
  return specifier.startsWith(".") ? posix.join(posix.dirname(from), specifier) : entries.get(specifier);
}
