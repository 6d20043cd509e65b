/** Clients that are commands: each call is a process, and what is kept is in the home folder. */
import { execFile } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const COMMAND_MS = 40_000;

async function run(command, args) {
  try {
    const { stdout } = await promisify(execFile)(command, args, { timeout: COMMAND_MS });
    return stdout;
  } catch (error) {
    const said = `${error.stderr ?? ""}\n${error.stdout ?? ""}`.trim();
    throw new Error(said === "" ? error.message : said, { cause: error });
  }
}

export async function mcporter(mcp, folder) {
  const file = join(folder, "mcporter.json");
  const isNew = !existsSync(file);
  writeFileSync(file, JSON.stringify({ mcpServers: { server: { url: mcp, auth: "oauth" } } }));
  const all = ["--config", file, "--oauth-timeout", "20000"];
  if (isNew) await run("mcporter", [...all, "auth", "server"]);
  const listed = await run("mcporter", [...all, "list", "server", "--json"]);
  return {
    tools: () => JSON.parse(listed).tools.map(({ name }) => name),
    call: async (name) => {
      // Its own notation, not JSON.
      const text = await run("mcporter", [...all, "call", `server.${name}`, "--output", "raw"]);
      return { text, isError: /isError: true/.test(text) };
    },
  };
}
