/**
 * Gathers the materials of projects in this repository: the template, and the packages in the
 * tarballs that `turbo run tarball` makes of them. Called by main.ts, and by the build of the
 * published command.
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { ABOUT, type Materials, PACKED, SEVERAL_VENDORS, TEMPLATE } from "./materials.ts";

export const ROOT: string = join(import.meta.dirname, "../../../..");
export const MATERIALS: string = join(import.meta.dirname, "../../dist/materials");

/** `registry` from the first release that a registry has: then nothing is packed here any more. */
const CORE: Materials["core"] = "packed";

/** Beside those of our own `template/`. The others are generated: project-files.ts, service-yaml.ts. */
const TEMPLATE_FILES = ["Dockerfile", "README.md", "rolldown.config.mjs", "service.schema.json", "src"];
const TOOLS = ["@types/node", "rolldown", "typescript", "vitest"];
/** What mcp-auth needs of our packages. */
const SIBLINGS = ["oauth-core", "service", "token-store"];

interface Manifest {
  readonly version: string;
  readonly engines: { readonly node: string };
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/**
 * Makes the tarballs that makeMaterials reads; turbo repeats only what has changed.
 *
 * @throws Error with the output of turbo
 */
export function makeTarballs(): void {
  run("turbo", ["run", "tarball", "--filter=@oauth-broker/mcp-auth...", "--ui=stream", "--output-logs=errors-only"]);
}

/** @throws Error of node:fs when a tarball is missing, or with the output of tar */
export function makeMaterials(): void {
  rmSync(MATERIALS, { recursive: true, force: true });
  const packed = join(MATERIALS, PACKED);
  mkdirSync(packed, { recursive: true });
  if (CORE === "packed") {
    packCore(packed);
    cpSync(tarballOf("simulators"), join(packed, "simulators.tgz"));
  }
  makeTemplate(MATERIALS);
  const { node } = readManifest(join(ROOT, "packages/mcp-auth")).engines;
  const about: Omit<Materials, "folder"> = { version: versionOfThis(), core: CORE, node, tools: toolVersions() };
  writeFileSync(join(MATERIALS, ABOUT), `${JSON.stringify(about, undefined, 2)}\n`);
}

/** @param materials the folder */
export function makeTemplate(materials: string): void {
  for (const file of TEMPLATE_FILES) {
    cpSync(join(ROOT, "apps/mcp-template", file), join(materials, TEMPLATE, file), { recursive: true });
  }
  for (const folder of [TEMPLATE, SEVERAL_VENDORS]) {
    cpSync(join(ROOT, "packages/create-server", folder), join(materials, folder), { recursive: true });
  }
}

export function versionOfThis(): string {
  return readManifest(join(ROOT, "packages/create-server")).version;
}

const tarballOf = (name: string): string => join(ROOT, "packages", name, "tarball/package.tgz");

/**
 * mcp-auth with its siblings inside, so that a project has one entry for all four. npm installs no
 * dependencies of a bundled package, so mcp-auth lists those of its siblings as its own. The name
 * is without a version: a project's package.json stays when a newer file replaces this one.
 */
function packCore(packed: string): void {
  const scratch = mkdtempSync(join(tmpdir(), "create-server-"));
  try {
    const core = join(scratch, "package");
    unpack("mcp-auth", core);
    const siblings = SIBLINGS.map((name) => {
      const folder = join(core, "node_modules/@oauth-broker", name);
      unpack(name, folder);
      return readManifest(folder);
    });
    const manifest = readManifest(core);
    const dependencies = Object.assign({}, ...siblings.map((sibling) => sibling.dependencies), manifest.dependencies);
    const bundleDependencies = SIBLINGS.map((name) => `@oauth-broker/${name}`);
    // Without the optional peer: npm would ask a registry for it while it replaces both files.
    const noPeers = { peerDependencies: undefined, peerDependenciesMeta: undefined };
    const text = JSON.stringify({ ...manifest, ...noPeers, dependencies, bundleDependencies }, undefined, 2);
    writeFileSync(join(core, "package.json"), `${text}\n`);
    run("tar", ["-czf", join(packed, "mcp-auth.tgz"), "-C", scratch, "package"]);
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

function unpack(name: string, folder: string): void {
  mkdirSync(folder, { recursive: true });
  run("tar", ["-xzf", tarballOf(name), "-C", folder, "--strip-components=1"]);
}

/** The exact versions that are tested here. */
function toolVersions(): Record<string, string> {
  const { devDependencies = {} } = readManifest(ROOT);
  const { catalog } = parse(readFileSync(join(ROOT, "pnpm-workspace.yaml"), "utf8")) as {
    readonly catalog: Readonly<Record<string, string>>;
  };
  return Object.fromEntries(
    TOOLS.map((name) => {
      const version = catalog[name] ?? devDependencies[name];
      if (version === undefined) throw new Error(`No version of ${name} is pinned in this repository`);
      return [name, version];
    }),
  );
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}

function run(command: string, args: readonly string[]): void {
  const shell = process.platform === "win32";
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: ROOT, encoding: "utf8", shell });
  if (status === 0) return;
  throw new Error(`${command} failed: ${error?.message ?? ""}\n${stdout}${stderr}`);
}
