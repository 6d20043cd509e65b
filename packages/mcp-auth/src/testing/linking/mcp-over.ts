/** `/mcp` with a fixture's own sessions and links behind it, called without a port. */
import { type Fetch, systemTimer } from "@oauth-broker/oauth-core";
import { createLog } from "@oauth-broker/service";
import { errorPageWith, mount } from "@oauth-broker/service/http";
import { Hono } from "hono";
import { identitySource } from "../../hosted/records/identity-source.ts";
import { MAX_OPEN } from "../../hosted/tickets/tickets.ts";
import { createElicitationDeps } from "../../mcp/elicitation/deps.ts";
import { createMcpEndpoint } from "../../mcp/endpoint.ts";
import type { Tool } from "../../tool.ts";
import { type Closing, closing } from "../closing.ts";
import { type HostedFixture, SERVER } from "../hosted-fixture.ts";

export interface McpOver extends Closing {
  request(init: RequestInit): Promise<Response>;
}

export interface McpOverOptions {
  /** How the vendors' APIs answer. */
  readonly fetch: Fetch;
  readonly onLine?: (line: string) => void;
}

export function openMcpOver(
  { settings, vendorClient, serverKey, now, authenticate, linking }: HostedFixture,
  tools: readonly Tool[],
  { fetch, onLine = () => undefined }: McpOverOptions,
): McpOver {
  const log = createLog({ write: onLine });
  const { vendor, scopes } = settings.vendor;
  const elicitation = {
    seals: serverKey,
    now,
    connectionsUrl: `${SERVER}/connections`,
    mostTickets: MAX_OPEN,
    stopping: new AbortController().signal,
    timer: systemTimer,
    vendorClient,
    source: identitySource(settings),
  };
  const endpoint = createMcpEndpoint(
    { name: "test", version: "1.0.0", tools },
    {
      authenticate,
      addressOf: () => "127.0.0.1",
      resourceMetadata: undefined,
      scope: scopes.join(" "),
      vendor: () => vendorClient.resolve(vendor),
      names: vendor,
      apiHosts: [],
      allowLoopback: true,
      fetch,
      vendorClient,
      log,
      ...(linking === undefined ? {} : { linking: createElicitationDeps(settings.links, elicitation) }),
    },
  );
  const app = new Hono();
  mount(app, [endpoint.route], { log, errorPage: errorPageWith(), isHttps: true });
  const request = async (init: RequestInit): Promise<Response> => app.request(`${SERVER}/mcp`, init);
  return closing({ request }, endpoint.close);
}
