/**
 * A deployed server without OAuth, as a process, with one tool. It reports which Authorization
 * header it received; there must be none.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";

const { DEPLOYMENT_URL, HOST = "127.0.0.1", PORT = "0" } = process.env;

createServer((request, response) => void answerOne(request, response)).listen(Number(PORT), HOST, () =>
  process.stdout.write(`${JSON.stringify({ url: DEPLOYMENT_URL })}\n`),
);

async function answerOne(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk as Uint8Array);
  const seen = request.headers.authorization ?? "none";
  const handler = createMcpHandler(() => serverThatSaw(seen), { legacy: "stateless" });
  const { method = "GET", headers } = request;
  const names = ["content-type", "accept", "mcp-protocol-version", "mcp-method", "mcp-name"];
  const passed = names.flatMap((name): [string, string][] =>
    headers[name] === undefined ? [] : [[name, String(headers[name])]],
  );
  const asked = new Request(`http://${headers.host ?? HOST}${request.url ?? "/"}`, {
    method,
    headers: passed,
    ...(method === "POST" ? { body: Buffer.concat(chunks) } : {}),
  });
  const answer = await handler.fetch(asked);
  response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
}

function serverThatSaw(seen: string): McpServer {
  const server = new McpServer({ name: "open", version: "1.0.0" });
  server.registerTool("look", { description: "what reached the server" }, async () => ({
    content: [{ type: "text", text: `authorization: ${seen}` }],
  }));
  return server;
}
