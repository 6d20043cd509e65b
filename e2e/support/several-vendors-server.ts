/**
 * A server with several vendors as an author writes one, with a tool for each: the vendor's answer
 * says whose token it was sent. built-services.ts bundles it; several-vendors.ts starts it.
 */
import { defineTool, runServer } from "@oauth-broker/mcp-auth";
import { z } from "zod";

const nothing = z.object({});
const readOnly = { annotations: { readOnlyHint: true } };

await runServer({
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
    defineTool({
      name: "home_account",
      title: "Home account",
      description: "The user's account where they sign in",
      input: nothing,
      ...readOnly,
      vendor: "home",
      scopes: ["openid"],
      run: async (_, { user, vendor }) => ({ user, account: await vendor.account() }),
    }),
    defineTool({
      name: "chat_account",
      title: "Chat account",
      description: "The user's account at the chat",
      input: nothing,
      ...readOnly,
      vendor: "chat",
      scopes: ["openid", "api:read"],
      run: async (_, { user, vendor }) => ({ user, account: await vendor.account() }),
    }),
    defineTool({
      name: "chat_post",
      title: "Chat post",
      description: "Would write to the chat",
      input: z.object({ text: z.string().optional() }),
      vendor: "chat",
      scopes: ["openid", "api:read", "api:write"],
      run: async (_, { user, vendor }) => ({ user, account: await vendor.account() }),
    }),
    defineTool({
      name: "github_account",
      title: "GitHub account",
      description: "The user's account at GitHub",
      input: nothing,
      ...readOnly,
      vendor: "github",
      scopes: ["read:user"],
      run: async (_, { user, vendor }) => ({ user, account: await vendor.account() }),
    }),
    defineTool({
      name: "all_accounts",
      title: "All accounts",
      description: "The user's accounts at every vendor",
      input: nothing,
      ...readOnly,
      vendors: {
        home: { scopes: ["openid"] },
        chat: { scopes: ["openid", "api:read"] },
        github: { scopes: ["read:user"] },
      },
      run: async (_, { user, vendors }) => {
        const all = [vendors.home, vendors.chat, vendors.github];
        return { user, accounts: await Promise.all(all.map((vendor) => vendor.account())) };
      },
    }),
  ],
});
