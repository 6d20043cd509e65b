/**
 * Notion twice on one address: the MCP authorization server (mcp.notion.com) and the API app flow
 * (api.notion.com/v1/oauth).
 *
 * Seen (recorded discoveries A and B of the vendor facts, the last probed 2026-09-25;
 * NangoHQ/nango@2f4c0af): the MCP endpoints, revocation on the token address, introspection,
 * methods basic, post and none, plain and S256, client documents, scope `default`, resource
 * metadata only at the root and with the bare origin although the server is at /mcp.
 * Assumed: an hour for access tokens; that a used refresh token is dead at once; what is assumed of
 * Linear's token address. The API app flow is in notion-api.ts.
 */
import { startVendorHost } from "./base/host.ts";
import type { SimulatorOptions } from "./base/simulator.ts";
import { serveMcp, type McpRules, type McpSimulator } from "./mcp/server.ts";
import { NOTION_API_ERRORS, serveNotionApi, type NotionClient } from "./notion-api.ts";

export interface NotionSimulator extends McpSimulator {
  /** An app is valid for both flows. */
  addClient(client: NotionClient): void;
  /** The API app flow; `endpoints` has the MCP server's. */
  readonly apiEndpoints: Readonly<Record<string, string>>;
}

/** @throws Error of node:net when the port is taken */
export async function startNotion(options: SimulatorOptions = {}): Promise<NotionSimulator> {
  const host = await startVendorHost<NotionClient>({ id: "notion", brand: "Notion" }, options);
  const rules: McpRules = {
    scopes: [{ scope: "default", text: "Read and change what you can see in your workspace" }],
    challengeMethods: ["plain", "S256"],
    sendsIssuer: false,
    accessLifetimeSeconds: 3600,
    replayWindowSeconds: 0,
    resources: { "": { path: "", scopes: ["default"] } },
    servers: { "/mcp": "" },
    hasIntrospection: true,
  };
  const simulator = serveMcp(host, rules, NOTION_API_ERRORS);
  serveNotionApi(host);
  const { url } = host;
  return {
    ...simulator,
    addClient: host.clients.add,
    apiEndpoints: {
      authorization_endpoint: `${url}/v1/oauth/authorize`,
      token_endpoint: `${url}/v1/oauth/token`,
      revocation_endpoint: `${url}/v1/oauth/revoke`,
      introspection_endpoint: `${url}/v1/oauth/introspect`,
      userinfo_endpoint: `${url}/v1/users/me`,
    },
  };
}
