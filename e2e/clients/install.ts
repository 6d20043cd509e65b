/** Brings the clients into node_modules/.cache once: npm's by pnpm's lock, Go's by go.sum, Python's by pip's. */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../support/paths.ts";
import { PYTHON_SDK, pythonVersions } from "./list.ts";

const CACHE: string = join(ROOT, "node_modules", ".cache");
export const CLIENTS_FOLDER: string = join(CACHE, "clients");

/** Shared with `npm run test:mcp-python`. */
export function pythonOf(version: string): string {
  return join(CACHE, `python-mcp-${version}`, "bin", "python");
}

/** @throws Error with a sentence for the user */
export function installClients(say: (line: string) => void): void {
  mkdirSync(CLIENTS_FOLDER, { recursive: true });
  cpSync(join(import.meta.dirname, "programs"), CLIENTS_FOLDER, { recursive: true });
  cpSync(join(PYTHON_SDK, "sdk.py"), join(CLIENTS_FOLDER, "sdk.py"));
  say("clients from npm");
  run("pnpm", ["install", "--frozen-lockfile", "--reporter=silent"], CLIENTS_FOLDER);
  say("clients from Go");
  run("go", ["build", "-mod=readonly", "-o", join(CLIENTS_FOLDER, "go-client"), "."], join(CLIENTS_FOLDER, "go"));
  for (const { version, lock } of pythonVersions()) {
    const python = pythonOf(version);
    if (existsSync(python)) continue;
    say(`mcp ${version} from PyPI`);
    run("python3", ["-m", "venv", join(CACHE, `python-mcp-${version}`)], CACHE);
    run(python, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement", lock], CACHE);
  }
}

function run(command: string, args: readonly string[], cwd: string): void {
  const { status, error } = spawnSync(command, args, { cwd, stdio: "inherit" });
  if (status === 0) return;
  throw new Error(`Not run: ${[command, ...args].join(" ")} failed${error === undefined ? "" : `: ${error.message}`}`);
}
