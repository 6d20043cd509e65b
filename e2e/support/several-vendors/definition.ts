/**
 * A server with several vendors as an author writes one, with a tool for each that says whose token
 * the vendor was sent.
 */
import { defineTool, type ServerDefinition, type Tool } from "@oauth-broker/mcp-auth";
import { z } from "zod";

/** What the tools need of each vendor a test may list. */
const SCOPES: Readonly<Record<string, readonly string[]>> = {
  home: ["openid"],
  chat: ["openid", "api:read"],
  github: ["read:user"],
};
const input = z.object({ text: z.string().optional() });
const annotations = { readOnlyHint: true };

const accountOf = (vendor: string, name = `${vendor}_account`, more: readonly string[] = []): Tool =>
  defineTool({
    name,
    description: `The user's account at ${vendor}`,
    input,
    ...(more.length === 0 && { annotations }),
    vendor,
    scopes: [...(SCOPES[vendor] ?? []), ...more],
    run: async (_, { user, vendor: at }) => ({ user, account: await at.account() }),
  });

/** @param env `VENDORS` */
export function defineServer(env: Readonly<Record<string, string | undefined>>): ServerDefinition {
  const listed = (env["VENDORS"] ?? "").split(",").filter((id) => Object.hasOwn(SCOPES, id));
  return {
    name: "several-vendors",
    version: "1.0.0",
    tools: [
      defineTool({ name: "nothing", description: "Needs no vendor", input, run: async (_, { user }) => ({ user }) }),
      ...listed.map((id) => accountOf(id)),
      ...(listed.includes("chat") ? [accountOf("chat", "chat_post", ["api:write"])] : []),
      defineTool({
        name: "all_accounts",
        description: "The user's accounts at every vendor",
        input,
        annotations,
        vendors: Object.fromEntries(listed.map((id) => [id, { scopes: SCOPES[id] ?? [] }])),
        run: async (_, { user, vendors }) => ({
          user,
          accounts: await Promise.all(listed.map(async (id) => vendors[id]?.account() ?? null)),
        }),
      }),
    ],
  };
}
