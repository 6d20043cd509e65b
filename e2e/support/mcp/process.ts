/**
 * The template's server as a process: the built file, with only the given environment variables. See
 * service-process.ts.
 */
import { freePort } from "../free-port.ts";
import { MCP_BUNDLE } from "../paths.ts";
import { type Ended, runService, startService } from "../service-process.ts";

/** The platform's redirect URI, registered at the vendor in both modes; no server listens there. */
export const PLATFORM_CALLBACK = "https://platform.example/oauth/callback";

export type Environment = Readonly<Record<string, string>>;

export type McpServer = Awaited<ReturnType<typeof startMcpServer>>;
/** @returns `mcp`: the endpoint for tool calls */
export async function startMcpServer(env: Environment, folder?: string) {
  const started = await startService({ name: "MCP server", file: MCP_BUNDLE, env, folder });
  return { ...started, mcp: `${started.url}/mcp` };
}

/** An operator's command beside the server, or a start that fails. */
export async function runMcpCommand(env: Environment, folder: string, ...args: string[]): Promise<Ended> {
  return runService({ name: "MCP server", file: MCP_BUNDLE, env, folder }, ...args);
}

/** Hosted mode on a free port, by default with the platform's callback. */
export async function hostedEnvironment(more: Environment = { PLATFORM_OAUTH_CALLBACK_URL: PLATFORM_CALLBACK }) {
  const PORT = String(await freePort());
  return { ...more, OAUTH_MODE: "hosted", DEPLOYMENT_URL: `http://127.0.0.1:${PORT}`, PORT };
}
