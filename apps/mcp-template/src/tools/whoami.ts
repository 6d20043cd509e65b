/** The vendor's account of the calling user. */
import { defineTool } from "@oauth-broker/mcp-auth";
import { z } from "zod";

export const whoami = defineTool({
  name: "whoami",
  title: "Who am I",
  description: "The account at the vendor that this server acts for: use it to see as whom the other tools work",
  input: z.object({}),
  // Every client may ask as whom it works.
  scopes: [],
  annotations: { readOnlyHint: true, openWorldHint: true },
  run: (_, { vendor }) => vendor.account(),
});
