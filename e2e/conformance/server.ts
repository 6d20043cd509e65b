/**
 * The fixture as a process, as `main.ts` of an author's server would run it; its settings are
 * environment variables.
 */
import { runServer } from "@oauth-broker/mcp-auth";
import { fixture } from "./fixture/server.ts";

await runServer(fixture);
