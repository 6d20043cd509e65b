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
const nothing = z.object({});
const readOnly = { annotations: { readOnlyHint: true } };
const needsOf = (id: string) => ({ scopes: SCOPES[id] ?? [] });

const accountOf = (id: string): Tool =>
  defineTool({
    name: `${id}_account`,
    title: `Account at ${id}`,
    description: `The user's account at ${id}`,
    input: nothing,
    ...readOnly,
    vendor: id,
    ...needsOf(id),
    run: async (_, { user, vendor }) => ({ user, account: await vendor.account() }),
  });

const chatPost = defineTool({
  name: "chat_post",
  title: "Chat post",
  description: "Would write to the chat",
  input: z.object({ text: z.string().optional() }),
  vendor: "chat",
  scopes: ["openid", "api:read", "api:write"],
  run: async (_, { user, vendor }) => ({ user, account: await vendor.account() }),
});

/** @param env `VENDORS` */
export function defineServer(env: Readonly<Record<string, string | undefined>>): ServerDefinition {
  const listed = (env["VENDORS"] ?? "").split(",").filter((id) => Object.hasOwn(SCOPES, id));
  return {
    name: "several-vendors",
    title: "Several vendors",
    version: "1.0.0",
    tools: [
      defineTool({
        name: "nothing",
        description: "Needs no vendor",
        input: nothing,
        run: async (_, { user }) => ({ user }),
      }),
      ...listed.map(accountOf),
      ...(listed.includes("chat") ? [chatPost] : []),
      defineTool({
        name: "all_accounts",
        title: "All accounts",
        description: "The user's accounts at every vendor",
        input: nothing,
        ...readOnly,
        vendors: Object.fromEntries(listed.map((id) => [id, needsOf(id)])),
        run: async (_, { user, vendors }) => ({
          user,
          accounts: await Promise.all(listed.map(async (id) => vendors[id]?.account() ?? null)),
        }),
      }),
    ],
  };
}
