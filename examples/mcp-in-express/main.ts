/** An app on Express with an MCP server in it. The server's settings are in the environment, or in `.env`. */
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createMcpHandler, defineTool, SIGN_IN_VENDOR, z } from "@oauth-broker/mcp-auth";
import express, { type Request as ExpressRequest, type Response as ExpressResponse } from "express";

const whoami = defineTool({
  name: "whoami",
  description: "The account of the calling user at the vendor",
  input: z.object({}),
  vendor: SIGN_IN_VENDOR,
  scopes: [],
  run: async (_input, { vendor }) => vendor.account(),
});
const mcp = await createMcpHandler({ name: "mcp-in-express", version: "0.1.0", tools: [whoami] });

const app = express();
app.disable("x-powered-by");
app.get("/hello", (_request, response) => void response.send("The app's own page"));
// The server owns these paths at the root of DEPLOYMENT_URL, with every method. It reads bodies
// itself: no body parser before it.
for (const path of new Set(mcp.routes.map((route) => route.path))) {
  app.all(path, (incoming, outgoing, next) => void answer(incoming, outgoing).catch(next));
}

async function answer(incoming: ExpressRequest, outgoing: ExpressResponse): Promise<void> {
  const gone = new AbortController();
  outgoing.once("close", () => gone.abort());
  const response = await mcp.fetch(toRequest(incoming, gone.signal), {
    remoteAddress: incoming.socket.remoteAddress,
  });
  outgoing.status(response.status);
  for (const [name, value] of response.headers) outgoing.append(name, value);
  if (response.body === null) outgoing.end();
  else await pipeline(Readable.fromWeb(response.body), outgoing).catch(() => outgoing.destroy());
}

function toRequest(incoming: ExpressRequest, signal: AbortSignal): Request {
  const { method, originalUrl, rawHeaders } = incoming;
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "");
  const url = `http://${incoming.headers.host ?? "localhost"}${originalUrl}`;
  if (method === "GET" || method === "HEAD") return new Request(url, { method, headers, signal });
  return new Request(url, {
    method,
    headers,
    signal,
    body: Readable.toWeb(incoming) as ReadableStream,
    duplex: "half",
  });
}

const port = Number(process.env["PORT"] ?? 8788);
const server = app.listen(port, "127.0.0.1", () => console.log(`Open http://127.0.0.1:${port}`));
process.once("SIGTERM", () => server.close(() => void mcp.close()));
