/** Codex, a native client: `codex mcp login`, then its app server, which calls tools without a model. */
import { execFile, spawn } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

const ANSWER_MS = 30_000;

export async function codex(mcp, folder) {
  const home = join(folder, "codex");
  const env = { ...process.env, CODEX_HOME: home };
  if (!existsSync(home)) {
    mkdirSync(home);
    const settings = ['mcp_oauth_credentials_store = "file"', "[mcp_servers.server]", `url = "${mcp}"`];
    writeFileSync(join(home, "config.toml"), `${settings.join("\n")}\n`);
    await promisify(execFile)("codex", ["mcp", "login", "server"], { env, timeout: ANSWER_MS });
  }
  const ask = startAppServer(env, folder);
  await ask("initialize", { clientInfo: { name: "clients-matrix", version: "1.0.0" } });
  const { thread } = await ask("thread/start", { cwd: folder });
  return {
    tools: async () => {
      const { data } = await ask("mcpServerStatus/list", {});
      return Object.keys(data.find(({ name }) => name === "server")?.tools ?? {});
    },
    call: async (tool) => {
      const answer = await ask("mcpServer/tool/call", { threadId: thread.id, server: "server", tool, arguments: {} });
      return { text: JSON.stringify(answer.content), isError: answer.isError === true };
    },
  };
}

/** @returns asks one method and waits for its result */
function startAppServer(env, cwd) {
  const child = spawn("codex", ["app-server"], { env, cwd, stdio: ["pipe", "pipe", "inherit"] });
  const waiting = new Map();
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { id, result, error } = JSON.parse(line);
    const settle = waiting.get(id);
    if (settle === undefined) return;
    waiting.delete(id);
    settle(error === undefined ? { result } : { error });
  });
  let last = 0;
  return async (method, params) => {
    const id = (last += 1);
    const answer = new Promise((resolve) => {
      waiting.set(id, resolve);
      setTimeout(() => resolve({ error: { message: `no answer to ${method}` } }), ANSWER_MS);
    });
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    const { result, error } = await answer;
    if (error !== undefined) throw new Error(error.message);
    return result;
  };
}
