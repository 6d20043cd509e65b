/**
 * One scenario. The platform plays those about authorization, because it is a client of servers
 * with OAuth; for the others the SDK's client, which the platform's agent uses, calls everything
 * there is. Caller: client.ts.
 */
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { playAsPlatform } from "./platform.ts";
import { type Context, createClient, useEverything } from "./use.ts";

/** @throws what made the client stop */
export async function play(scenario: string, url: string, context: Context): Promise<void> {
  if (scenario.startsWith("auth/")) return playAsPlatform(scenario, url, context);
  const client = createClient();
  try {
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    await useEverything(client, context);
  } finally {
    await client.close();
  }
}
