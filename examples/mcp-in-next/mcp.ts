/** The MCP server of the app, one for the process. Its settings are in the environment, or in `.env`. */
import { createMcpHandler, defineTool, type McpHandler, SIGN_IN_VENDOR, z } from "@oauth-broker/mcp-auth";

const whoami = defineTool({
  name: "whoami",
  description: "The account of the calling user at the vendor",
  input: z.object({}),
  vendor: SIGN_IN_VENDOR,
  scopes: [],
  run: async (_input, { vendor }) => vendor.account(),
});

// Next.js loads this file once for the start and once for the route: what they share is global.
const shared = globalThis as typeof globalThis & { mcp?: Promise<McpHandler> };

export async function openMcp(): Promise<McpHandler> {
  shared.mcp ??= createMcpHandler({ name: "mcp-in-next", version: "0.1.0", tools: [whoami] });
  return shared.mcp;
}
