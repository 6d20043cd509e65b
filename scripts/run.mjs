// How the scripts run other programs.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { refusal } from "./usage.mjs";

export const root = fileURLToPath(new URL("..", import.meta.url));
/** For spawn: on Windows, what npm installs is started by a shell. */
export const shell = process.platform === "win32";

/**
 * Runs a command to its end: in the root and with this terminal, unless the options say otherwise.
 *
 * @returns its stdout and stderr, with `stdio: "pipe"`
 * @throws Refusal when it fails, with what it said in these
 */
export function run(command, args, options = {}) {
  const usual = { cwd: root, stdio: "inherit", shell, encoding: "utf8", maxBuffer: 2 ** 28 };
  const { status, stdout, stderr, error } = spawnSync(command, args, { ...usual, ...options });
  if (status === 0) return { stdout, stderr };
  const said = [`${[command, ...args].join(" ")} failed`, stdout, stderr, error?.message];
  throw refusal(said.filter(Boolean).join("\n"));
}

/** Runs the tests of one file of e2e, which env switches on. Their counts are the last lines. */
export function testE2e(file, env) {
  run("vitest", ["run", file], { cwd: join(root, "e2e"), env: { ...process.env, ...env } });
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

export const hasEnded = ({ exitCode, signalCode }) => exitCode !== null || signalCode !== null;

/** @returns what a server that was just started first answers; undefined where it ends, or is silent, for a minute */
export async function firstAnswer(child, url, request) {
  const until = performance.now() + 60_000;
  while (performance.now() < until && !hasEnded(child)) {
    const answer = await fetch(url, { ...request, signal: AbortSignal.timeout(60_000) }).catch(() => undefined);
    if (answer !== undefined) return answer;
    await sleep(50);
  }
  return undefined;
}
