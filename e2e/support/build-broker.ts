/**
 * Builds `apps/broker/dist/main.js` before the tests that start it. Turbo builds it first; this is
 * for `vitest` run by hand, when the bundle is missing or older than one of its sources.
 */
import { spawnSync } from "node:child_process";
import { existsSync, globSync, statSync } from "node:fs";
import { join } from "node:path";
import { BROKER_BUNDLE, BROKER_FOLDER, ROOT } from "./paths.ts";

const SOURCES = ["apps/broker/src/**/*.ts", "packages/{oauth-core,token-store}/src/**/*.{ts,json}"];

/** Vitest's global set-up: once per run, before any test file. */
export function setup(): void {
  if (isCurrent()) return;
  const rolldown = join(BROKER_FOLDER, "node_modules", "rolldown", "bin", "cli.mjs");
  const { status, stdout, stderr } = spawnSync(process.execPath, [rolldown, "-c", "rolldown.config.mjs"], {
    cwd: BROKER_FOLDER,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`The broker could not be built:\n${stdout}${stderr}`);
}

function isCurrent(): boolean {
  if (!existsSync(BROKER_BUNDLE)) return false;
  const builtAt = statSync(BROKER_BUNDLE).mtimeMs;
  return globSync(SOURCES, { cwd: ROOT }).every(
    (path) => path.endsWith(".test.ts") || statSync(join(ROOT, path)).mtimeMs <= builtAt,
  );
}
