/**
 * Builds the materials of projects from this repository: the core, compiled and packed as it would
 * be published, and the template. Called by main.ts, and by the build of the published command.
 */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { stopwatch } from "../clock.ts";
import { ABOUT, PACKAGES, PACKED, TEMPLATE, type Versions } from "./materials.ts";

export const ROOT: string = join(import.meta.dirname, "../../../..");
export const MATERIALS: string = join(import.meta.dirname, "../../dist/materials");

const PROJECTS = ["packages/mcp-auth", "packages/simulators"];
/** The other files of a project are generated: project-files.ts, service-yaml.ts. */
const TEMPLATE_FILES = ["Dockerfile", "README.md", "rolldown.config.mjs", "src"];
const PUBLIC = { dependencies: ["zod"], devDependencies: ["@types/node", "rolldown", "typescript", "vitest"] } as const;

/**
 * @param say receives each step and how long it took
 * @throws Error with the output of the compiler or the packer
 */
export function makeMaterials(say: (text: string) => void): void {
  const elapsed = stopwatch();
  compile();
  say(`Compiled the core (${elapsed()})`);
  rmSync(MATERIALS, { recursive: true, force: true });
  mkdirSync(join(MATERIALS, PACKED), { recursive: true });
  for (const name of PACKAGES) pack(name);
  makeTemplate(MATERIALS);
  writeFileSync(
    join(MATERIALS, ABOUT),
    `${JSON.stringify({ version: versionOfThis(), versions: versions() }, undefined, 2)}\n`,
  );
  say(`Packed it (${elapsed()})`);
}

/** @param materials the folder */
export function makeTemplate(materials: string): void {
  for (const file of TEMPLATE_FILES) {
    cpSync(join(ROOT, "apps/mcp-template", file), join(materials, TEMPLATE, file), { recursive: true });
  }
}

export function versionOfThis(): string {
  return (readJson("packages/create-server/package.json") as { readonly version: string }).version;
}

/**
 * Compiles by project references, so all of the core. The compiler's own bookkeeping does not
 * notice deleted outputs.
 */
function compile(): void {
  const isComplete = PACKAGES.every((name) => existsSync(join(ROOT, "packages", name, "dist/index.js")));
  const projects = PROJECTS.map((project) => join(project, "tsconfig.build.json"));
  run("tsc", ["-b", ...(isComplete ? [] : ["--force"]), ...projects], ROOT);
}

/**
 * Names without a version, so that a project's package.json stays unchanged when newer files
 * replace these.
 */
function pack(name: (typeof PACKAGES)[number]): void {
  const folder = join(ROOT, "packages", name);
  const { version } = readJson(`packages/${name}/package.json`) as { readonly version: string };
  const packed = join(MATERIALS, PACKED);
  run("pnpm", ["pack", "--pack-destination", packed], folder);
  renameSync(join(packed, `oauth-broker-${name}-${version}.tgz`), join(packed, `${name}.tgz`));
}

/** The exact versions that are tested here. */
function versions(): Versions {
  const root = readJson("package.json") as Partial<Versions>;
  const { catalog } = parse(readFileSync(join(ROOT, "pnpm-workspace.yaml"), "utf8")) as {
    readonly catalog: Readonly<Record<string, string>>;
  };
  const pick = (names: readonly string[]): Record<string, string> =>
    Object.fromEntries(
      names.map((name) => {
        const version = catalog[name] ?? root.devDependencies?.[name];
        if (version === undefined) throw new Error(`No version of ${name} is pinned in this repository`);
        return [name, version];
      }),
    );
  return {
    dependencies: pick(PUBLIC.dependencies),
    devDependencies: pick(PUBLIC.devDependencies),
    optionalDependencies: root.optionalDependencies ?? {},
  };
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(join(ROOT, path), "utf8"));
}

function run(command: string, args: readonly string[], cwd: string): void {
  const shell = process.platform === "win32";
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: "utf8", shell });
  if (status === 0) return;
  throw new Error(`${command} failed: ${error?.message ?? ""}\n${stdout}${stderr}`);
}
