/** Reviews fold what is generated: `.gitattributes` and line 1 of the files say the same. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "../sources.ts";

const git = (...args: string[]): string[] =>
  execFileSync("git", args, { cwd: ROOT, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 })
    .split("\0")
    .filter((one) => one !== "");

/** Paths that git would fold in a diff. */
function generatedPaths(): string[] {
  const fields = git("check-attr", "-z", "linguist-generated", "--", ...git("ls-files", "-z"));
  return fields.filter((_, at) => at % 3 === 0 && fields[at + 2] === "set");
}

it("folds every file whose beginning says that npm run docs writes it, and the lockfiles", () => {
  const says = (path: string): boolean => {
    const text = readFileSync(join(ROOT, path), "utf8");
    return text.slice(0, 100).includes("Generated. Remake: npm run docs");
  };
  const candidates = git(
    "ls-files",
    "-z",
    "docs",
    "deploy",
    "apps/*/*.json",
    "packages/*/src/registry/*",
    "packages/*/src/entry-vendor/*",
  );
  expect(generatedPaths()).toEqual([...candidates.filter(says), ...git("ls-files", "-z", "*pnpm-lock.yaml")].sort());
});

it("every text has line feeds alone, in the repository and on disk", () => {
  const lines = execFileSync("git", ["ls-files", "--eol"], { cwd: ROOT, encoding: "utf8" }).trim().split("\n");
  expect(lines.filter((line) => !/^i\/(?:lf|none|-text) +w\/(?:lf|none|-text) /.test(line))).toEqual([]);
});
