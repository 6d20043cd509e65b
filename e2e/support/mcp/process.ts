/**
 * The template's server as a process: the built file, with only the given environment variables. See
 * service-process.ts.
 */
import { freePort } from "../free-port.ts";
import { MCP_BUNDLE } from "../paths.ts";
import { type Ended, runService, type ServiceProcess, startService } from "../service-process.ts";

/** The platform's redirect URI, registered at the vendor in both modes; no server listens there. */
export const PLATFORM_CALLBACK = "https://platform.example/oauth/callback";

export type Environment = Readonly<Record<string, string>>;

export interface McpServer extends ServiceProcess {
  /** The endpoint for tool calls. */
  readonly mcp: string;
}

export async function startMcpServer(env: Environment, folder?: string): Promise<McpServer> {
  const started = await startService({ name: "MCP server", file: MCP_BUNDLE, env, folder });
  return { ...started, mcp: `${started.url}/mcp` };
}

/** An operator's command beside the server, or a start that fails. */
export async function runMcpCommand(env: Environment, folder: string, ...args: string[]): Promise<Ended> {
  return runService({ name: "MCP server", file: MCP_BUNDLE, env, folder }, ...args);
}

/** Hosted mode with the platform's callback, on a free port. */
export async function hostedEnvironment(): Promise<Environment> {
  const port = String(await freePort());
  return {
    OAUTH_MODE: "hosted",
    DEPLOYMENT_URL: `http://127.0.0.1:${port}`,
    PORT: port,
    PLATFORM_OAUTH_CALLBACK_URL: PLATFORM_CALLBACK,
  };
}
