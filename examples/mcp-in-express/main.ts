/** An app on Express with an MCP server in it. The server's settings are in the environment, or in `.env`. */
import { getRequestListener } from "@hono/node-server";
import { createMcpHandler, defineTool, SIGN_IN_VENDOR, z } from "@oauth-broker/mcp-auth";
import express from "express";

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
const answer = getRequestListener(
  (request, { incoming }) => mcp.fetch(request, { remoteAddress: incoming.socket.remoteAddress }),
  { overrideGlobalObjects: false },
);
for (const path of new Set(mcp.routes.map((route) => route.path))) app.all(path, answer);

const port = Number(process.env["PORT"] ?? 8788);
const server = app.listen(port, "127.0.0.1", () => console.log(`Open http://127.0.0.1:${port}`));
process.once("SIGTERM", () => server.close(() => void mcp.close()));
