/** The calling user's account at the vendor that signs users in. */
import { defineTool, SIGN_IN_VENDOR, z } from "@oauth-broker/mcp-auth";

export const whoami = defineTool({
  name: "whoami",
  title: "Who am I",
  description: "The account at the vendor that this server acts for. Use it to see which user the other tools work for",
  input: z.object({}),
  vendor: SIGN_IN_VENDOR,
  // Every client may ask which user it works for.
  scopes: [],
  annotations: { readOnlyHint: true, openWorldHint: true },
  run: (_, { vendor }) => vendor.account(),
});
