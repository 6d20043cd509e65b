/**
 * Builds the services that tests start as one file each: a process starts in half the time it takes
 * from source. Turbo builds those of the apps first; here they are built for `vitest` run by hand,
 * when one is missing or older than its sources. The broker with short waits is built only here.
 */
import { spawnSync } from "node:child_process";
import { globSync, statSync } from "node:fs";
import { join } from "node:path";
import { BROKER_FOLDER, BROKER_WITH_SHORT_WAITS, ROOT } from "../paths.ts";

interface Build {
  /** With a rolldown.config.mjs, which names the bundle. */
  readonly folder: string;
  readonly configuration?: string;
  readonly bundle: string;
  /** Glob patterns from the root; what they match is older than the bundle when it is current. */
  readonly sources: readonly string[];
}

function ofApp(app: string, more: string): Build {
  const folder = join(ROOT, "apps", app);
  const packages = `packages/{oauth-core,service,token-store,${more}}/src/**/*.{ts,json}`;
  return { folder, bundle: join(folder, "dist", "main.js"), sources: [`apps/${app}/src/**/*.ts`, packages] };
}

const BROKER = ofApp("broker", "");
const MCP = ofApp("mcp-template", "mcp-auth");
const PLATFORM = ofApp("platform", "broker-client");
const SHORT_WAITS: Build = {
  folder: BROKER_FOLDER,
  configuration: join(import.meta.dirname, "short-waits.rolldown.config.mjs"),
  bundle: BROKER_WITH_SHORT_WAITS,
  sources: [...BROKER.sources, "e2e/support/{broker,setup}/*.{ts,mjs}"],
};

/** Vitest's global set-up: once per run, before any test file. */
export function setup(): void {
  for (const one of [BROKER, MCP, PLATFORM, SHORT_WAITS]) build(one);
}

/** For benches, which start the broker alone. */
export const buildBroker = (): void => build(BROKER);

/** For clients run by hand. */
export const buildServer = (): void => build(MCP);

function build({ folder, configuration = "rolldown.config.mjs", bundle, sources }: Build): void {
  if (isCurrent(bundle, sources)) return;
  const rolldown = join(BROKER_FOLDER, "node_modules", "rolldown", "bin", "cli.mjs");
  const args = [rolldown, "-c", configuration];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
  if (status !== 0) throw new Error(`${bundle} could not be built:\n${stdout}${stderr}`);
}

/** @param sources as in `Build` */
export function isCurrent(bundle: string, sources: readonly string[]): boolean {
  const builtAt = statSync(bundle, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return globSync([...sources], { cwd: ROOT }).every(
    (path) => path.endsWith(".test.ts") || statSync(join(ROOT, path)).mtimeMs <= builtAt,
  );
}
