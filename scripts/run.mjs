// What the opt-in test scripts run, one after the other, in the root unless they say otherwise.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));

/** Ends the script if the command fails: nothing was tested then. */
export function run(command, args, options = {}) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: "inherit", ...options });
  if (status === 0) return;
  const why = error === undefined ? "" : `: ${error.message}`;
  console.error(`Not tested: ${[command, ...args].join(" ")} failed${why}.`);
  process.exit(1);
}

/** @returns the interpreter of a Python environment below node_modules/.cache, with these files of requirements */
export function bringPython(name, requirements) {
  const environment = join(root, "node_modules", ".cache", name);
  const python = join(environment, "bin", "python");
  if (!existsSync(python)) run("python3", ["-m", "venv", environment]);
  const install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
  run(python, [...install, ...requirements.flatMap((path) => ["--requirement", path])]);
  return python;
}
