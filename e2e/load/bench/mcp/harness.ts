/**
 * What the `/mcp` bench compares, each in its own process on loopback: a server without auth, the
 * same in hosted mode on SQLite and on DynamoDB with KMS, and in pre-registered mode; a fake
 * vendor and the AWS engines behind them.
 */
import { join } from "node:path";
import type { ServerProcess } from "../../server-process.ts";
import { startEngines, startMcpServer, startVendor, tableEnvironment } from "../../services.ts";
import { openOnStage } from "../../stage.ts";
import type { Engines } from "../../engines.ts";

export const MCP_SUBJECTS = ["open", "sqlite", "dynamodb", "preRegistered"] as const;
/** `open`: no auth. `sqlite`, `dynamodb`: hosted mode. */
export type McpSubject = (typeof MCP_SUBJECTS)[number];

export interface McpHarness {
  readonly vendorUrl: string;
  readonly engine: Engines["name"];
  readonly servers: Readonly<Record<McpSubject, ServerProcess>>;
  stop(): Promise<void>;
}

const WITHOUT_AUTH = join(import.meta.dirname, "no-auth.ts");

export interface McpHarnessOptions {
  /** Each subject leaves a CPU profile there when it stops. */
  readonly profileFolder?: string | undefined;
  /** A module that each subject loads first. */
  readonly preload?: string | undefined;
  /** Takes what a subject prints once it listens. */
  readonly onLine?: ((subject: string, line: string) => void) | undefined;
}

export async function startMcpHarness(options: McpHarnessOptions = {}): Promise<McpHarness> {
  const { onLine } = options;
  return openOnStage(async (stage) => {
    const aws = await startEngines(stage).call("open");
    const { url: vendorUrl } = await startVendor("named", stage);
    const subject = async (name: McpSubject, env: Readonly<Record<string, string>> = {}): Promise<ServerProcess> => {
      const before = name === "open" ? ["--import", WITHOUT_AUTH] : [];
      const watched = onLine === undefined ? {} : { onLine: (line: string) => onLine(name, line) };
      return startMcpServer({ name, vendorUrl, flags: [...flags(name, options), ...before], env, ...watched }, stage);
    };
    const servers = {
      open: await subject("open"),
      sqlite: await subject("sqlite"),
      dynamodb: await subject("dynamodb", tableEnvironment(aws)),
      // The vendor names no client of a token, so none is expected.
      preRegistered: await subject("preRegistered", {
        OAUTH_MODE: "pre-registered",
        PLATFORM_OAUTH_CALLBACK_URL: "",
        VENDOR_CLIENT_ID: "",
        VENDOR_CLIENT_SECRET: "",
      }),
    };
    return { vendorUrl, engine: aws.name, servers };
  });
}

function flags(name: McpSubject, { preload, profileFolder: folder }: McpHarnessOptions): string[] {
  return [
    ...(preload === undefined ? [] : ["--import", preload]),
    ...(folder === undefined
      ? []
      : ["--cpu-prof", `--cpu-prof-dir=${folder}`, `--cpu-prof-name=mcp-${name}.cpuprofile`]),
  ];
}
