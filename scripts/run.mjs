// What the opt-in test scripts run, one after the other, in the root unless they say otherwise.
import { spawnSync } from "node:child_process";
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
