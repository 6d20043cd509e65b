/**
 * `/mcp` on a real port, for tests of what a client sends and reads: one vendor, callers whose
 * tokens are words (`alice` calls with the token of Alice), and nothing around it that answers.
 */
import { Client, type ClientCapabilities, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Secret } from "@oauth-broker/oauth-core";
import type { ResolvedVendor } from "@oauth-broker/oauth-core/registry";
import { createLog, listen } from "@oauth-broker/service";
import { errorPageWith, mount } from "@oauth-broker/service/http";
import { Hono } from "hono";
import { createMcpEndpoint, type McpDeps } from "../mcp/endpoint.ts";
import type { Authenticate, Caller } from "../mode.ts";
import type { ServerDefinition } from "../server.ts";
import { type Closing, closing } from "./closing.ts";
import { rawRequest } from "./linking/raw-calls.ts";

/** The eras of the protocol that a stock client has. */
export const ERAS = ["auto", "legacy"] as const;
export type ClientEra = (typeof ERAS)[number];

export interface TestEndpoint extends Closing {
  readonly url: URL;
  /** The lines of the log, oldest first. */
  readonly lines: string[];
  /**
   * A stock client of the caller whose bearer token this word is; closed with the endpoint.
   *
   * @param prepare called before it connects
   */
  connect(
    token: string,
    era: ClientEra,
    capabilities?: ClientCapabilities,
    prepare?: (client: Client) => void,
  ): Promise<Client>;
  /** A message of a client of 2025; `alice` is the default caller. */
  send(message: object, options?: SendOptions): Promise<Response>;
}

export interface SendOptions {
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export async function openTestEndpoint(
  definition: Pick<ServerDefinition, "tools"> & Partial<ServerDefinition>,
  deps: Pick<McpDeps, "authenticate"> & Partial<McpDeps>,
): Promise<TestEndpoint> {
  const lines: string[] = [];
  const log = createLog({ write: (line) => void lines.push(line) });
  const endpoint = createMcpEndpoint(
    { name: "test", version: "1.0.0", ...definition },
    {
      addressOf: () => "203.0.113.9",
      resourceMetadata: undefined,
      scope: "",
      vendor: async () => ({ authorizationEndpoint: "x", tokenEndpoint: "x" }) as ResolvedVendor,
      names: { id: "example", name: "Example" },
      apiHosts: [],
      allowLoopback: false,
      fetch: async () => new Response(),
      vendorClient: { account: async () => ({}) },
      log,
      ...deps,
    },
  );
  const app = new Hono();
  mount(app, [endpoint.route], { log, errorPage: errorPageWith(), isHttps: true });
  // The soak calls from one address more often at once than a server grants.
  const server = await listen(app, { host: "127.0.0.1", port: 0, maxConnections: 10_000 });
  const url = new URL(`http://127.0.0.1:${server.port}/mcp`);
  const clients: Client[] = [];
  const opened: Omit<TestEndpoint, keyof Closing> = {
    url,
    lines,
    connect: async (token, era, capabilities = {}, prepare = () => undefined) => {
      const client = new Client({ name: "test", version: "1" }, { capabilities, versionNegotiation: { mode: era } });
      const requestInit = { headers: { authorization: `Bearer ${token}` } };
      clients.push(client);
      prepare(client);
      await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
      return client;
    },
    send: (message, { token = "alice", headers = {}, ...options } = {}) =>
      fetch(url, {
        ...rawRequest(token, { jsonrpc: "2.0", ...message }, { "mcp-protocol-version": "2025-11-25", ...headers }),
        ...options,
      }),
  };
  return closing(opened, async () => {
    await Promise.all(clients.map((client) => client.close()));
    await endpoint.close();
    await server.stop(0);
  });
}

export interface TestCaller {
  readonly scope?: readonly string[];
  /** Default: the same as `scope`. */
  readonly vendorScope?: readonly string[];
  /** In order: the first is used until it is refused. */
  readonly vendorTokens: readonly string[];
}

export function testAuthenticate(
  callers: Readonly<Record<string, TestCaller>>,
): Authenticate & { readonly refusals: string[] } {
  const refusals: string[] = [];
  const authenticate: Authenticate = async (bearer) => {
    const known = callers[bearer];
    return known === undefined ? undefined : callerOf(bearer, known, refusals);
  };
  return Object.assign(authenticate, { refusals });
}

function callerOf(user: string, { scope, vendorScope = scope, vendorTokens }: TestCaller, refusals: string[]): Caller {
  const tokenAt = (index: number) => {
    const value = vendorTokens[index];
    return value === undefined ? undefined : { accessToken: new Secret(value), version: index };
  };
  return {
    user,
    scope,
    vendorScope,
    expiresAt: 4_000_000_000,
    clientId: "client",
    vendorToken: async () => {
      const first = tokenAt(0);
      if (first === undefined) throw new Error("no token");
      return first;
    },
    refused: async ({ version }) => {
      refusals.push(`${user}/${version}`);
      return tokenAt(version + 1);
    },
  };
}
