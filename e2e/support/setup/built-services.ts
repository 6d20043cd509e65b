/**
 * Builds the services that tests start as one file each: a process starts in half the time it takes
 * from source. Turbo builds those of the apps first; here they are built for `vitest` run by hand,
 * when one is missing or older than its sources. The broker with short waits is built only here.
 */
import { spawnSync } from "node:child_process";
import { existsSync, globSync, statSync } from "node:fs";
import { join } from "node:path";
import {
  BROKER_BUNDLE,
  BROKER_FOLDER,
  BROKER_WITH_SHORT_WAITS,
  MCP_BUNDLE,
  MCP_FOLDER,
  PLATFORM_BUNDLE,
  PLATFORM_FOLDER,
  ROOT,
} from "../paths.ts";

interface Build {
  /** With a rolldown.config.mjs, which names the bundles. */
  readonly folder: string;
  readonly configuration?: string;
  readonly bundles: readonly string[];
  /** Glob patterns from the root; what they match is older than the bundles when they are current. */
  readonly sources: readonly string[];
}

const packages = (names: string): string => `packages/{${names}}/src/**/*.{ts,json}`;

const BROKER: Build = {
  folder: BROKER_FOLDER,
  bundles: [BROKER_BUNDLE],
  sources: ["apps/broker/src/**/*.ts", packages("oauth-core,service,token-store")],
};

const MCP: Build = {
  folder: MCP_FOLDER,
  bundles: [MCP_BUNDLE],
  sources: ["apps/mcp-template/src/**/*.ts", packages("oauth-core,service,token-store,mcp-auth")],
};

const PLATFORM: Build = {
  folder: PLATFORM_FOLDER,
  bundles: [PLATFORM_BUNDLE],
  sources: ["apps/platform/src/**/*.ts", packages("oauth-core,service,token-store,broker-client")],
};

const SHORT_WAITS: Build = {
  folder: BROKER_FOLDER,
  configuration: join(import.meta.dirname, "short-waits.rolldown.config.mjs"),
  bundles: [BROKER_WITH_SHORT_WAITS],
  sources: [...BROKER.sources, "e2e/support/{broker,setup}/*.{ts,mjs}"],
};

/** Vitest's global set-up: once per run, before any test file. */
export function setup(): void {
  for (const one of [BROKER, MCP, PLATFORM, SHORT_WAITS]) build(one);
}

/** For benches, which start the broker alone. */
export function buildBroker(): void {
  build(BROKER);
}

/** For clients run by hand. */
export function buildServer(): void {
  build(MCP);
}

function build({ folder, configuration = "rolldown.config.mjs", bundles, sources }: Build): void {
  if (isCurrent(bundles, sources)) return;
  const rolldown = join(BROKER_FOLDER, "node_modules", "rolldown", "bin", "cli.mjs");
  const { status, stdout, stderr } = spawnSync(process.execPath, [rolldown, "-c", configuration], {
    cwd: folder,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`${bundles.join(", ")} could not be built:\n${stdout}${stderr}`);
}

/** @param sources as in `Build` */
export function isCurrent(bundles: readonly string[], sources: readonly string[]): boolean {
  if (!bundles.every((bundle) => existsSync(bundle))) return false;
  const builtAt = Math.min(...bundles.map((bundle) => statSync(bundle).mtimeMs));
  return globSync([...sources], { cwd: ROOT }).every(
    (path) => path.endsWith(".test.ts") || statSync(join(ROOT, path)).mtimeMs <= builtAt,
  );
}
