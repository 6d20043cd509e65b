/**
 * What the `/mcp` bench compares, each in its own process on loopback: a server without auth, the
 * same in hosted mode on SQLite and on DynamoDB with KMS, and in pre-registered mode; the canary
 * vendor and the AWS engines behind them.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { canaryEnvironment } from "@oauth-broker/simulators";
import { freePort } from "../../../support/free-port.ts";
import { ROOT } from "../../../support/paths.ts";
import { CALLBACK } from "./client.ts";
import { type ServerProcess, startServer } from "../../server-process.ts";
import type { EngineCalls, Engines } from "../store/engines.ts";
import { startWorker } from "../store/worker.ts";

export const MCP_SUBJECTS = ["open", "sqlite", "dynamodb", "preRegistered"] as const;
/** `open`: no auth. `sqlite`, `dynamodb`: hosted mode. */
export type McpSubject = (typeof MCP_SUBJECTS)[number];

export interface McpHarness {
  readonly vendorUrl: string;
  readonly engine: Engines["name"];
  readonly servers: Readonly<Record<McpSubject, ServerProcess>>;
  stop(): Promise<void>;
}

const VENDOR = join(ROOT, "packages", "simulators", "src", "canary-vendor.ts");
const SERVER = join(import.meta.dirname, "server.ts");
const WITHOUT_AUTH = join(import.meta.dirname, "no-auth.ts");

/** @param profileFolder each subject leaves a CPU profile there when it stops */
export async function startMcpHarness(profileFolder?: string): Promise<McpHarness> {
  const root = mkdtempSync(join(tmpdir(), "oauth-broker-mcp-bench-"));
  const started: { stop(): Promise<void> }[] = [];
  const stop = async (): Promise<void> => {
    try {
      // In reverse order: the last have connections to those before.
      for (const one of started.toReversed()) await one.stop();
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  };
  const start = async (name: string, args: readonly string[], env = {}): Promise<ServerProcess> => {
    const folder = join(root, name);
    mkdirSync(folder);
    const server = await startServer({ name, args, folder, env });
    started.push(server);
    return server;
  };
  try {
    const engines = startWorker<EngineCalls>("engines.ts");
    started.push(engines);
    const aws = await engines.call("open");
    const { url: vendorUrl } = await start("vendor", [VENDOR]);
    const subject = async (name: McpSubject, env: Readonly<Record<string, string>>): Promise<ServerProcess> => {
      const port = String(await freePort());
      const common = { ...canaryEnvironment(vendorUrl), PORT: port, DEPLOYMENT_URL: `http://127.0.0.1:${port}` };
      const before = name === "open" ? ["--import", WITHOUT_AUTH] : [];
      return start(name, [...flags(name, profileFolder), ...before, SERVER], { ...common, ...env });
    };
    const hosted = { OAUTH_MODE: "hosted", PLATFORM_OAUTH_CALLBACK_URL: CALLBACK };
    const servers = {
      open: await subject("open", hosted),
      sqlite: await subject("sqlite", hosted),
      dynamodb: await subject("dynamodb", { ...hosted, ...awsEnvironment(aws) }),
      // The vendor names no client of a token, so none is expected.
      preRegistered: await subject("preRegistered", {
        OAUTH_MODE: "pre-registered",
        VENDOR_CLIENT_ID: "",
        VENDOR_CLIENT_SECRET: "",
      }),
    };
    return { vendorUrl, engine: aws.name, servers, stop };
  } catch (error) {
    await stop().catch(() => undefined);
    throw error;
  }
}

function flags(name: McpSubject, folder: string | undefined): string[] {
  return folder === undefined
    ? []
    : ["--cpu-prof", `--cpu-prof-dir=${folder}`, `--cpu-prof-name=mcp-${name}.cpuprofile`];
}

function awsEnvironment({ endpoint, region, table, kmsEndpoint, keyArn }: Engines): Readonly<Record<string, string>> {
  return {
    DB_TABLE_NAME: table,
    DB_TABLE_REGION: region,
    TOKEN_ENCRYPTION_KMS_KEY_ID: keyArn,
    TOKEN_ENCRYPTION_MODE: "encrypted",
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    AWS_ENDPOINT_URL_KMS: kmsEndpoint,
    AWS_ACCESS_KEY_ID: "bench",
    AWS_SECRET_ACCESS_KEY: "bench",
    AWS_EC2_METADATA_DISABLED: "true",
  };
}
