/** An app on Hono with an MCP server in it. The server's settings are in the environment, or in `.env`. */
import { serve } from "@hono/node-server";
import { getConnInfo } from "@hono/node-server/conninfo";
import { createMcpHandler, defineTool, SIGN_IN_VENDOR, z } from "@oauth-broker/mcp-auth";
import { Hono } from "hono";

const whoami = defineTool({
  name: "whoami",
  description: "The account of the calling user at the vendor",
  input: z.object({}),
  vendor: SIGN_IN_VENDOR,
  scopes: [],
  run: async (_input, { vendor }) => vendor.account(),
});
const mcp = await createMcpHandler({ name: "mcp-in-hono", version: "0.1.0", tools: [whoami] });

const app = new Hono();
app.get("/hello", (c) => c.text("The app's own page"));
// The server owns these paths at the root of DEPLOYMENT_URL, with every method.
for (const path of new Set(mcp.routes.map((route) => route.path))) {
  app.all(path, (c) => mcp.fetch(c.req.raw, { remoteAddress: getConnInfo(c).remote.address }));
}

const port = Number(process.env["PORT"] ?? 8788);
const server = serve({ fetch: app.fetch, hostname: "127.0.0.1", port }, () =>
  console.log(`Open http://127.0.0.1:${port}`),
);
process.once("SIGTERM", () => server.close(() => void mcp.close()));
