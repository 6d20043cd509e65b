/** Reviews fold what is generated: `.gitattributes` and line 1 of the files say the same. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "../sources.ts";
import { listFiles } from "./tracked-files.ts";

/** Paths that git would fold in a diff. */
function generatedPaths(): string[] {
  const args = ["check-attr", "-z", "linguist-generated", "--", ...listFiles(ROOT)];
  const fields = execFileSync("git", args, { cwd: ROOT, encoding: "utf8", maxBuffer: 2 ** 26 }).split("\0");
  return fields.filter((_, at) => at % 3 === 0 && fields[at + 2] === "set");
}

it("folds every file whose beginning says that npm run docs writes it, and the lockfiles", () => {
  const says = (path: string): boolean => {
    const text = readFileSync(join(ROOT, path), "utf8");
    return text.slice(0, 100).includes("Generated. Remake: npm run docs");
  };
  const places = ["docs", "deploy", "apps/*/*.json", "packages/*/src/registry/*", "packages/*/src/entry-vendor/*"];
  const candidates = listFiles(ROOT, ...places);
  expect(generatedPaths()).toEqual([...candidates.filter(says), ...listFiles(ROOT, "*pnpm-lock.yaml")].sort());
});

it("every text has line feeds alone, in the repository and on disk", () => {
  const lines = execFileSync("git", ["ls-files", "--eol"], { cwd: ROOT, encoding: "utf8" }).trim().split("\n");
  expect(lines.filter((line) => !/^i\/(?:lf|none|-text) +w\/(?:lf|none|-text) /.test(line))).toEqual([]);
});
