/** The API for authors of servers. Named exports only. */
export { createMcpHandler, type McpHandler, type McpHandlerOptions } from "./handler.ts";
export type { ServerDefinition } from "./server.ts";
export { runServer } from "./start.ts";
export {
  type CallContext,
  defineTool,
  type NamedVendors,
  NeedsScope,
  SIGN_IN_VENDOR,
  type Tool,
  type ToolAnswer,
  type ToolContext,
  ToolError,
  toolResult,
  type VendorApi,
  type VendorNeeds,
} from "./tool.ts";
export { z } from "zod";
