/**
 * Runs the example of a README as it stands, in the package's own folder, where its name and its
 * dependencies resolve. The page shows the output beside `console.log`: `console.log(value); // 2`.
 */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

export interface RanExample {
  readonly printed: string;
  /** The output that the page shows, in the format of `printed`. */
  readonly promised: string;
}

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
 * @param folder of the package
 * @param environment the whole of it, with the cache of compiled files
 * @throws Error when the example fails
 */
export async function runReadmeExample(
  folder: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<RanExample> {
  const example = readmeBlock(folder, "ts");
  const promised = [...example.matchAll(/console\.log\(.*\); \/\/ (.*)/g)].map(([, text = ""]) => `${text}\n`).join("");
  const run = promisify(execFile)(process.execPath, ["--input-type=module-typescript", "--eval", example], {
    cwd: folder,
    env: { NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"], ...environment },
  });
  return { printed: (await run).stdout, promised };
}
