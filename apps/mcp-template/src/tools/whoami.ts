/** The vendor's account of the calling user. */
import { defineTool } from "@oauth-broker/mcp-auth";
import { z } from "zod";

export const whoami = defineTool({
  name: "whoami",
  title: "Who am I",
  description: "The account at the vendor that this server acts for. Use it to see which user the other tools work for",
  input: z.object({}),
  // Every client may ask which user it works for.
  scopes: [],
  annotations: { readOnlyHint: true, openWorldHint: true },
  run: (_, { vendor }) => vendor.account(),
});
