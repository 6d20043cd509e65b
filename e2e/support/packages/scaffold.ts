/**
 * Projects as authors create them: outside the repository, with the published command, and the npm
 * of the machine. With packages.ts the only tests that use the npm registry.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { ROOT } from "../paths.ts";
import { type Ended, keepOutput } from "../service-process.ts";

/** The published command; turbo builds it first. */
export const CREATE_SERVER: string = join(ROOT, "packages/create-server/dist/main.js");
const COMMAND_MS = 180_000;

/**
 * The shell of a user who has the Node.js that runs the tests: nothing else of this repository on
 * PATH, and nothing of the test script in the environment.
 */
export function plainEnvironment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(?:npm_|pnpm_|turbo_|vitest|node_|init_cwd$|ci$|test$)/i.test(name),
  );
  const path = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => !folder.includes("node_modules"));
  const PATH = [dirname(process.execPath), ...path].join(delimiter);
  // npm reads the machine's settings from beside its Node.js: here that would be the pinned one.
  const nodeFolder = path.find((folder) => existsSync(join(folder, "node"))) ?? dirname(process.execPath);
  return {
    ...Object.fromEntries(own),
    PATH,
    npm_config_prefix: dirname(nodeFolder),
    npm_config_prefer_offline: "true",
  };
}

/** @throws Error with its whole output when it does not end with 0 */
export async function mustRun(
  command: string,
  args: readonly string[],
  cwd: string,
  env = plainEnvironment(),
): Promise<Ended> {
  const ran = await run(command, args, cwd, env);
  if (ran.code !== 0)
    throw new Error(`${command} ${args.join(" ")} ended with ${ran.code}:\n${ran.stdout}${ran.stderr}`);
  return ran;
}

export async function run(
  command: string,
  args: readonly string[],
  cwd: string,
  env = plainEnvironment(),
): Promise<Ended> {
  const child = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], timeout: COMMAND_MS });
  const { stdout, stderr } = keepOutput(child);
  const [code] = (await once(child, "close")) as [number | null];
  return { code, stdout: stdout(), stderr: stderr() };
}

/**
 * Makes of the packed core its next release: the version in every package, a word in `/healthz`.
 *
 * @param packed of a project
 */
export async function packNextRelease(packed: string, scratch: string, version: string): Promise<void> {
  for (const name of ["mcp-auth", "simulators"]) {
    const folder = join(scratch, name);
    mkdirSync(folder, { recursive: true });
    await mustRun("tar", ["-xzf", join(packed, `${name}.tgz`)], folder);
    for (const path of globSync("package/{,node_modules/@oauth-broker/*/}package.json", { cwd: folder })) {
      const manifest = JSON.parse(readFileSync(join(folder, path), "utf8")) as Manifest;
      const dependencies = Object.entries(manifest.dependencies).map(([one, old]) => [
        one,
        one.startsWith("@oauth-broker/") ? version : old,
      ]);
      const next = { ...manifest, version, dependencies: Object.fromEntries(dependencies) };
      writeFileSync(join(folder, path), JSON.stringify(next));
    }
    if (name === "mcp-auth") markRelease(join(folder, "package/dist/app.js"), version);
    await mustRun("tar", ["-czf", join(packed, `${name}.tgz`), "package"], folder);
  }
}

function markRelease(app: string, version: string): void {
  const text = readFileSync(app, "utf8");
  const changed = text.replace('status: "ok",', `status: "ok", release: "${version}",`);
  if (changed === text) throw new Error("app.js has changed: there is no place to mark the release");
  writeFileSync(app, changed);
}

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
}
