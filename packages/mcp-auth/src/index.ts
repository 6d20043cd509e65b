/** The API for authors of servers. Named exports only. */
export type { ServerDefinition } from "./server.ts";
export { runServer } from "./start.ts";
export { defineTool, type Tool, type ToolAnswer, type ToolContext, ToolError, type VendorApi } from "./tool.ts";
