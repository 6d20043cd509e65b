/**
 * The server as a part of another app: a web-standard `fetch`, the routes to mount, `close`.
 * What a process has once is the app's: nothing here reads arguments, opens a port, writes to stdout
 * or installs a handler of signals or rejections. start.ts runs the same server as a process.
 */
import { systemClock } from "@oauth-broker/oauth-core";
import { createLog } from "@oauth-broker/service";
import { openServer } from "./app.ts";
import { type Environment, environmentOfProcess, loadSettings } from "./config.ts";
import { errorOf } from "./config/reader.ts";
import type { ServerDefinition } from "./server.ts";

/** A server without a port. */
export interface McpHandler {
  /**
   * Answers a request at the root of `DEPLOYMENT_URL`'s origin; at any other host it is 403, at any
   * other path 404. Forwarded headers are read only behind `TRUSTED_PROXIES`.
   *
   * @param connection `remoteAddress`: the address of the peer. Without it, all callers share the
   * limits per address
   */
  fetch(request: Request, connection?: { readonly remoteAddress?: string | undefined }): Promise<Response>;
  /** The paths to mount, with any method: each answers those it does not serve, too. */
  readonly routes: readonly { readonly method: "GET" | "POST"; readonly path: string }[];
  /** Ends calls that run, and closes the store. Requests that come later fail. */
  close(): Promise<void>;
}

/** What the app may decide beside the settings. */
export interface McpHandlerOptions {
  /** Takes each line of the log, JSON with its line end. Default: stderr. */
  readonly log?: (line: string) => void;
}

/**
 * Opens the store, and sends nothing.
 *
 * @param settings the variables of the configuration page, by name; default: the environment of the
 *   process. Those of listening (`HOST`, `PORT`, `METRICS_PORT`, `IDLE_SECONDS`, `MAX_CONNECTIONS`) and
 *   of tracing are the app's and not used
 * @throws Error listing every problem of the settings and the tools, or of a store or key that may
 *   not be used
 */
export async function createMcpHandler(
  definition: ServerDefinition,
  settings: Readonly<Record<string, string | undefined>> = environmentOfProcess(),
  { log: write = (line) => void process.stderr.write(line) }: McpHandlerOptions = {},
): Promise<McpHandler> {
  const log = createLog({ write });
  requireTexts(settings);
  const loaded = loadSettings(settings, definition.tools);
  if (loaded.deploymentUrl === undefined) {
    const problem = "is missing: requests for any other host are refused";
    throw errorOf([{ path: "DEPLOYMENT_URL", problem }], "its settings");
  }
  const environment: Environment = settings;
  const { app, routes, storage, warnings, ...server } = await openServer(definition, loaded, {
    now: systemClock,
    log,
    environment,
  });
  for (const warning of warnings) log.warn("configuration_warning", { warning });
  return {
    fetch: async (request, { remoteAddress } = {}) => app.fetch(withHost(request), { remoteAddress }),
    routes,
    close: async () => {
      server.drain();
      await server.cutCalls();
      await storage?.close();
      await server.close();
    },
  };
}

/** What an environment cannot hold, a program's own settings can. */
function requireTexts(settings: Readonly<Record<string, unknown>>): void {
  const others = Object.keys(settings).filter((name) => !["string", "undefined"].includes(typeof settings[name]));
  const problems = others.map((path) => ({ path, problem: "must be text" }));
  if (problems.length > 0) throw errorOf(problems, "its settings");
}

/** A request that an app made itself has its host in the URL alone. */
//= bar#RS-7
function withHost(request: Request): Request {
  if (request.headers.has("host")) return request;
  const headers = new Headers(request.headers);
  headers.set("host", new URL(request.url).host);
  return new Request(request, { headers });
}
