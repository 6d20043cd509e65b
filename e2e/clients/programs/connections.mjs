/** All clients by name: libraries in this process, and programs that are proxies on stdio. */
import { Client } from "sdk-1.32/client/index.js";
import { StdioClientTransport } from "sdk-1.32/client/stdio.js";
import { codex } from "./codex.mjs";
import { mcporter } from "./commands.mjs";
import { textOf } from "./kit.mjs";
import { LIBRARIES } from "./libraries.mjs";

/** A host application that knows local servers only starts such a proxy as one. */
async function overStdio(command, args) {
  const client = new Client({ name: "host", version: "1.0.0" });
  await client.connect(new StdioClientTransport({ command, args, env: process.env, stderr: "inherit" }));
  return {
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name) => {
      const answer = await client.callTool({ name, arguments: {} });
      return { text: textOf(answer), isError: answer.isError === true };
    },
  };
}

export const CONNECTIONS = {
  ...LIBRARIES,
  codex,
  mcporter,
  "mcp-remote": (mcp) => overStdio("mcp-remote", [mcp]),
};
