/**
 * A server inside the test, behind a real port: started as its main.ts starts it, by the same
 * variables. For tests that are not about the process.
 */
import { tools } from "@oauth-broker/mcp-template/src/tools/index.ts";
import type { ServerDefinition } from "@oauth-broker/mcp-auth";
import { type Clock, systemClock } from "@oauth-broker/oauth-core";
import { loadSettings } from "../../../packages/mcp-auth/src/config.ts";
import { startServer } from "../../../packages/mcp-auth/src/start.ts";
import { keepLog, temporaryFolder } from "../service-process.ts";
import type { Environment, McpServer } from "./process.ts";

export type ServerInProcess = Pick<McpServer, "url" | "mcp" | "folder" | "stdout" | "stop">;

/** The template's server. */
export async function serveTemplate(env: Environment, folder?: string, now?: Clock): Promise<ServerInProcess> {
  return serveInProcess({ name: "mcp-template", title: "MCP template", version: "0.1.0", tools }, env, folder, now);
}

/** @param folder of the store; a fresh one by default */
export async function serveInProcess(
  definition: ServerDefinition,
  env: Environment,
  folder: string = temporaryFolder(),
  now: Clock = systemClock,
): Promise<ServerInProcess> {
  const environment = { DATA_DIR: folder, ...env };
  const { log, lines, requireClean } = keepLog(definition.name);
  const settings = loadSettings(environment, definition.tools);
  const { url, stop } = await startServer(definition, settings, { log, now, environment });
  return {
    url,
    mcp: `${url}/mcp`,
    folder,
    stdout: () => lines.join(""),
    stop: async () => {
      await stop();
      requireClean();
    },
  };
}
