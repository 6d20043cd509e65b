/** The server: its name and its tools. Its settings come from the environment (README.md). */
import { runServer } from "@oauth-broker/mcp-auth";
import { tools } from "./tools/index.ts";

await runServer({
  name: "mcp-template",
  title: "MCP template",
  version: "0.1.0",
  instructions: "Works with the account that the user has at the vendor.",
  tools,
});
