/** What an author's server is made with. Named exports only. */
export { defineTool, type Tool, type ToolAnswer, type ToolContext, ToolError, type VendorApi } from "./tool.ts";
