/**
 * Runs the example of a README as it stands, in the package's own folder, where its name and its
 * dependencies resolve. The page shows the output beside `console.log`: `console.log(value); // 2`.
 */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";

/**
 * The first code block of a language in the README of a package.
 *
 * @throws Error when the README has no such block
 */
export function readmeBlock(folder: string, language: string): string {
  const page = readFileSync(join(folder, "README.md"), "utf8");
  const [, block] = new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(page) ?? [];
  if (block === undefined) throw new Error(`README.md has no block of ${language}`);
  return block;
}

/**
 * The test of an example.
 *
 * @param sources the folder `src` of the package
 * @param environment called in the test; the whole of it, with the cache of compiled files
 */
export function testReadmeExample(
  sources: string,
  environment: () => Readonly<Record<string, string>> = () => ({}),
): void {
  it("the README's example runs as it stands, and prints what it says", async () => {
    const folder = join(sources, "..");
    const example = readmeBlock(folder, "ts");
    const said = [...example.matchAll(/console\.log\(.*\); \/\/ (.*)/g)].map(([, text = ""]) => `${text}\n`).join("");
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["--input-type=module-typescript", "--eval", example],
      { cwd: folder, env: { NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"], ...environment() } },
    );
    expect(stdout).toBe(said);
    expect(said).not.toBe("");
  });
}
