/**
 * One scenario. The platform plays those about authorization, because it is a client of servers
 * with OAuth; for the others the SDK's client, which the platform's agent uses, calls everything
 * that a server offers, once. A scenario that needs particular arguments has them in its context; the
 * others are made from the tool's schema. Caller: player.ts.
 */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { type Context, playAsPlatform } from "./platform.ts";

/**
 * @param context of the suite, as JSON
 * @throws what made the client stop
 */
export async function play(scenario: string, url: string, context: string | undefined): Promise<void> {
  const known = JSON.parse(context ?? "{}") as Context;
  if (scenario.startsWith("auth/")) return playAsPlatform(scenario, url, known);
  const client = createClient();
  try {
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    await useEverything(client, known);
  } finally {
    await client.close();
  }
}

/** A user who answers every question: with the default when there is one. */
function createClient(): Client {
  const client = new Client(
    { name: "platform", version: "0.1.0" },
    { versionNegotiation: { mode: "auto" }, capabilities: { elicitation: { form: { applyDefaults: true } } } },
  );
  client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: {} }));
  return client;
}

async function useEverything(client: Client, { toolCalls }: Context): Promise<void> {
  const { tools } = await client.listTools();
  const calls = toolCalls ?? tools.map((tool) => ({ name: tool.name, arguments: argumentsFor(tool, tools) }));
  // One after the other: scenarios check the order of requests.
  for (const call of calls) await client.callTool(call);
  const { resources: hasResources, prompts: hasPrompts } = client.getServerCapabilities() ?? {};
  if (hasResources !== undefined) {
    const { resources } = await client.listResources();
    // oxlint-disable-next-line no-await-in-loop
    for (const { uri } of resources) await client.readResource({ uri });
  }
  if (hasPrompts !== undefined) {
    const { prompts } = await client.listPrompts();
    // oxlint-disable-next-line no-await-in-loop
    for (const { name } of prompts) await client.getPrompt({ name });
  }
}

type Tool = Awaited<ReturnType<Client["listTools"]>>["tools"][number];

const SAMPLES: Readonly<Record<string, unknown>> = { number: 5, integer: 5, boolean: true, object: {}, array: [] };

function argumentsFor({ name, inputSchema }: Tool, all: readonly Tool[]): Record<string, unknown> {
  // Expects the schema of the other tool, as the client understood it.
  if (name === "json_schema_echo") return { schema: all.find((other) => other.name !== name)?.inputSchema };
  const { properties = {}, required = [] } = inputSchema;
  return Object.fromEntries(
    required.map((property) => {
      const { type = "string" } = properties[property] as { type?: string };
      return [property, SAMPLES[type] ?? "sample"];
    }),
  );
}
