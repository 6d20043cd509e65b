/**
 * Builds the services that tests start as one file each: a process starts in half the time it takes
 * from source. Turbo builds those of the apps first; this is for `vitest` run by hand, when one is
 * missing or older than its sources.
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
  SEVERAL_VENDORS_BUNDLE,
} from "./paths.ts";

interface BuiltService {
  readonly folder: string;
  /** In the folder, which names the bundle. */
  readonly configuration: string;
  readonly bundle: string;
  /** Glob patterns from the root; what they match is older than the bundle when it is current. */
  readonly sources: readonly string[];
}

const packages = (names: string): string => `packages/{${names}}/src/**/*.{ts,json}`;

const BROKER: BuiltService = {
  folder: BROKER_FOLDER,
  configuration: "rolldown.config.mjs",
  bundle: BROKER_BUNDLE,
  sources: ["apps/broker/src/**/*.ts", packages("oauth-core,token-store")],
};

const MCP: BuiltService = {
  folder: MCP_FOLDER,
  configuration: "rolldown.config.mjs",
  bundle: MCP_BUNDLE,
  sources: ["apps/mcp-template/src/**/*.ts", packages("oauth-core,token-store,mcp-auth")],
};

const SERVICES: readonly BuiltService[] = [
  BROKER,
  {
    ...BROKER,
    configuration: join(import.meta.dirname, "short-waits.rolldown.config.mjs"),
    bundle: BROKER_WITH_SHORT_WAITS,
    sources: [...BROKER.sources, "e2e/support/short-waits*"],
  },
  MCP,
  {
    ...MCP,
    configuration: join(import.meta.dirname, "several-vendors.rolldown.config.mjs"),
    bundle: SEVERAL_VENDORS_BUNDLE,
    sources: [packages("oauth-core,token-store,mcp-auth"), "e2e/support/several-vendors-server.ts"],
  },
  {
    folder: PLATFORM_FOLDER,
    configuration: "rolldown.config.mjs",
    bundle: PLATFORM_BUNDLE,
    sources: ["apps/platform/src/**/*.ts", packages("oauth-core,token-store,broker-client")],
  },
];

/** Vitest's global set-up: once per run, before any test file. */
export function setup(): void {
  for (const service of SERVICES) build(service);
}

/** For benches, which start the broker alone. */
export function buildBroker(): void {
  build(BROKER);
}

function build(service: BuiltService): void {
  if (isCurrent(service)) return;
  const { folder, configuration, bundle } = service;
  const rolldown = join(BROKER_FOLDER, "node_modules", "rolldown", "bin", "cli.mjs");
  const { status, stdout, stderr } = spawnSync(process.execPath, [rolldown, "-c", configuration], {
    cwd: folder,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`${bundle} could not be built:\n${stdout}${stderr}`);
}

function isCurrent({ bundle, sources }: BuiltService): boolean {
  if (!existsSync(bundle)) return false;
  const builtAt = statSync(bundle).mtimeMs;
  return globSync([...sources], { cwd: ROOT }).every(
    (path) => path.endsWith(".test.ts") || statSync(join(ROOT, path)).mtimeMs <= builtAt,
  );
}
