/** All clients by name: libraries in this process, and programs that are proxies on stdio. */
import { Client } from "sdk-1.32/client/index.js";
import { StdioClientTransport } from "sdk-1.32/client/stdio.js";
import { codex } from "./codex.mjs";
import { mcporter } from "./commands.mjs";
import { ofSdk } from "./kit.mjs";
import { LIBRARIES } from "./libraries.mjs";

/** A host application that knows local servers only starts such a proxy as one. */
async function overStdio(command, args) {
  const client = new Client({ name: "host", version: "1.0.0" });
  await client.connect(new StdioClientTransport({ command, args, env: process.env, stderr: "inherit" }));
  return ofSdk(client);
}

export const CONNECTIONS = {
  ...LIBRARIES,
  codex,
  mcporter,
  "mcp-remote": (mcp) => overStdio("mcp-remote", [mcp]),
};
