/**
 * The server of the `/mcp` bench: a server as an author writes one, run as its main file would run
 * it, with tools that cost nothing themselves. Configured by its environment. Also a program, which
 * services.ts starts.
 */
import { defineTool, runServer, type ServerDefinition } from "@oauth-broker/mcp-auth";
import { z } from "zod";

const nothing = z.object({});

export const BENCH_SERVER: ServerDefinition = {
  name: "bench",
  version: "1.0.0",
  tools: [
    defineTool({ name: "nothing", description: "Does nothing", input: nothing, run: async () => "ok" }),
    defineTool({
      name: "token",
      description: "Takes the user's vendor token, and sends nothing",
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
};

if (import.meta.main) await runServer(BENCH_SERVER);
