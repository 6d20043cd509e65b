/**
 * Projects as authors create them: outside the repository, with the published command, and the npm
 * of the machine. With packages.ts the only tests that use the npm registry.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { type Ended, keepOutput } from "../service-process.ts";

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
export async function mustRun(...given: Parameters<typeof run>): Promise<Ended> {
  const [command, args] = given;
  const ran = await run(...given);
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
