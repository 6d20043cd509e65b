/**
 * A server whose users link several vendors, from source: one tool per vendor beside `whoami`, as
 * create-server writes them. Its settings come from the environment.
 */
import { defineTool, runServer, SIGN_IN_VENDOR } from "@oauth-broker/mcp-auth";
import { z } from "zod";

const about = { description: "The account", input: z.object({}), annotations: { readOnlyHint: true } };

const whoami = defineTool({
  ...about,
  name: "whoami",
  vendor: SIGN_IN_VENDOR,
  scopes: [],
  run: (_, { vendor }) => vendor.account(),
});

const accountAtSlack = defineTool({
  ...about,
  name: "account_at_slack",
  vendor: "slack",
  scopes: ["users:read"],
  run: (_, { vendor }) => vendor.account(),
});

await runServer({ name: "linking-server", title: "Linking server", version: "0.1.0", tools: [whoami, accountAtSlack] });
