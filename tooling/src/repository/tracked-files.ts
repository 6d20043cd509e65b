/**
 * Rules for every tracked file, regardless of its language: no focused or skipped tests, no
 * leftover marks, nothing specific to one machine, nothing huge. Run by `npm run check` (gate
 * "tracked files").
 */
import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Violation } from "../code/boundaries.ts";
import { ROOT } from "../sources.ts";

const MAX_BYTES = 1024 * 1024;

/** The patterns are written so that they do not match themselves. */
const FORBIDDEN: readonly { readonly rule: string; readonly files: RegExp; readonly text: RegExp }[] = [
  {
    rule: "no focused or skipped tests",
    files: /\.[cm]?[jt]sx?$/,
    text: /\b(it|test|describe)\.(only|skip|todo|fails)\b/,
  },
  { rule: "no marks left over", files: /\.([cm]?[jt]sx?|ya?ml|sh)$/, text: /\b(TO[D]O|FIX[M]E|X[X]X|HA[C]K)\b/ },
  { rule: "no path of one machine", files: /./, text: /(?<![\w./:@-])\/(home|Users|root|work)\/[\w.-]/ },
  {
    rule: "no address of a package registry",
    files: /./,
    text: /https?:\/\/[a-z0-9.-]*(registry|npm|mirror)[a-z0-9.-]*\.[a-z]+[/:]/,
  },
];

/** @returns what is wrong in one file; binary files are only measured */
export function checkTrackedFile(path: string, bytes: Buffer): Violation[] {
  const at = (rule: string, line: number, message: string): Violation => ({ rule, path, line, message });
  if (bytes.length > MAX_BYTES) return [at("no huge files", 1, `${bytes.length} bytes; at most ${MAX_BYTES}`)];
  if (bytes.includes(0)) return [];
  const rules = FORBIDDEN.filter(({ files }) => files.test(path));
  return bytes
    .toString("utf8")
    .split("\n")
    .flatMap((text, index) =>
      rules.filter((rule) => rule.text.test(text)).map((rule) => at(rule.rule, index + 1, text.trim().slice(0, 120))),
    );
}

/**
 * @param more options and patterns of `git ls-files`
 * @returns the paths of what git tracks, in order
 */
export function listFiles(root: string, ...more: readonly string[]): string[] {
  const listed = execFileSync("git", ["ls-files", "-z", ...more], { cwd: root, encoding: "utf8", maxBuffer: 2 ** 26 });
  return listed.split("\0").slice(0, -1);
}

/** @returns violations of every file that git tracks or would add */
export function checkTrackedFiles(root: string = ROOT): Violation[] {
  return listFiles(root, "--cached", "--others", "--exclude-standard")
    .filter((path) => statSync(join(root, path), { throwIfNoEntry: false })?.isFile() === true)
    .flatMap((path) => checkTrackedFile(path, readFileSync(join(root, path))));
}
