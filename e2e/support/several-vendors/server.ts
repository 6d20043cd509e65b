/** The server with several vendors as a program. */
import { runServer } from "@oauth-broker/mcp-auth";
import { defineServer } from "./definition.ts";

await runServer(defineServer(process.env));
