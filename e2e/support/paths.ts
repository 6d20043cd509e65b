/** The paths of this repository. */
import { join } from "node:path";

export const ROOT: string = join(import.meta.dirname, "..", "..");
export const BROKER_FOLDER: string = join(ROOT, "apps", "broker");
export const BROKER_BUNDLE: string = join(BROKER_FOLDER, "dist", "main.js");
export const BROKER_SOURCE: string = join(BROKER_FOLDER, "src", "main.ts");
export const BROKER_WITH_SHORT_WAITS: string = join(ROOT, "e2e", "dist", "short-waits-broker.js");
export const MCP_FOLDER: string = join(ROOT, "apps", "mcp-template");
export const MCP_BUNDLE: string = join(MCP_FOLDER, "dist", "main.js");
export const MCP_SOURCE: string = join(MCP_FOLDER, "src", "main.ts");
export const PLATFORM_FOLDER: string = join(ROOT, "apps", "platform");
export const PLATFORM_BUNDLE: string = join(PLATFORM_FOLDER, "dist", "main.js");
export const PLATFORM_SOURCE: string = join(PLATFORM_FOLDER, "src", "main.ts");
/** A server whose users link two vendors. */
export const LINKING_SOURCE: string = join(ROOT, "e2e", "support", "mcp", "linking-server.ts");
