/** The paths of this repository. */
import { join } from "node:path";

export const ROOT: string = join(import.meta.dirname, "..", "..");
export const BROKER_FOLDER: string = join(ROOT, "apps", "broker");
export const BROKER_BUNDLE: string = join(BROKER_FOLDER, "dist", "main.js");
export const BROKER_SOURCE: string = join(BROKER_FOLDER, "src", "main.ts");
export const MCP_SOURCE: string = join(ROOT, "apps", "mcp-template", "src", "main.ts");
export const PLATFORM_SOURCE: string = join(ROOT, "apps", "platform", "src", "main.ts");
