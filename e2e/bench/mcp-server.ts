/**
 * The server under the bench of `/mcp`: a server as an author writes one, run as its main file would, with tools that cost
 * nothing themselves. What it is set to comes from its environment. A program; mcp-stage.ts starts it.
 */
import { defineTool, runServer } from "@oauth-broker/mcp-auth";
import { z } from "zod";

const nothing = z.object({});

await runServer({
  name: "bench",
  version: "1.0.0",
  tools: [
    defineTool({ name: "nothing", description: "Does nothing", input: nothing, run: async () => "ok" }),
    defineTool({
      name: "token",
      description: "Takes the user's vendor token, and asks nobody",
      input: nothing,
      run: async (_, { vendor }) => {
        await vendor.accessToken();
        return "ok";
      },
    }),
    defineTool({
      name: "account",
      description: "Whose token the vendor's API was sent, and who called",
      input: nothing,
      run: async (_, { vendor, user }) => {
        const { sub } = await vendor.account();
        return JSON.stringify({ user, sub });
      },
    }),
  ],
});
