/**
 * The packages as they are published, and the oldest Node.js that they promise: tarballs of the
 * repository, installed with npm into empty projects outside it.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../paths.ts";
import { isCurrent } from "../setup/built-services.ts";
import { mustRun } from "./scaffold.ts";

export const PACKAGES: readonly string[] = readdirSync(join(ROOT, "packages")).toSorted();

const SOURCES = "{packages/*,apps/mcp-template}/{src/**/*.{ts,json},*.{json,md,mjs}}";
const TARBALL = "tarball/package.tgz";

export const tarballOf = (name: string): string => join(ROOT, "packages", name, TARBALL);

/** For `vitest` run by hand: turbo makes the tarballs before it runs these tests. */
export function makeTarballs(): void {
  if (PACKAGES.every((name) => isCurrent(tarballOf(name), [SOURCES]))) return;
  const args = ["run", "tarball", "--filter=./packages/*", "--ui=stream", "--output-logs=errors-only"];
  const { status, stdout, stderr } = spawnSync("turbo", args, { cwd: ROOT, encoding: "utf8" });
  if (status !== 0) throw new Error(`The packages could not be packed:\n${stdout}${stderr}`);
}

/** In an installed project: a program that imports its arguments, and prints what that changed. */
export const IMPORT_ALL = "import-all.mjs";

/**
 * One of the Node.js versions that the packages promise, from the npm packages that the root's
 * package.json pins for development. Installed once per clone.
 *
 * @returns the path of the program
 */
export async function nodeOf(version: string): Promise<string> {
  if (version === process.versions.node) return process.execPath;
  const folder = join(ROOT, "node_modules/.cache/nodes", version);
  const { optionalDependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    readonly optionalDependencies: Readonly<Record<string, string>>;
  };
  const platform = `${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
  const name = Object.keys(optionalDependencies).find((one) => one.endsWith(platform));
  if (name === undefined) throw new Error(`There is no Node.js package for ${platform}`);
  const program = join(folder, "node_modules", name, "bin", process.platform === "win32" ? "node.exe" : "node");
  if (!existsSync(program)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), "{}");
    await mustRun("npm", ["install", "--no-audit", "--no-fund", `${name}@${version}`], folder);
  }
  return program;
}
