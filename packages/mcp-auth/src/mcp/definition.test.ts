/** What a definition says beside its tools reaches clients as it is. */
import { afterEach, expect, it } from "vitest";
import { defineTool, toolResult } from "../tool.ts";
import { z } from "zod";
import { ERAS, openTestEndpoint, type TestEndpoint, testAuthenticate } from "../testing/test-endpoint.ts";

let endpoint: TestEndpoint | undefined;
afterEach(() => endpoint?.close());

const ICONS = [{ src: "https://acme.example/icon.png", mimeType: "image/png" }];
const sum = defineTool({
  name: "sum",
  description: "Adds",
  input: z.object({}),
  outputSchema: z.object({ total: z.number() }),
  icons: ICONS,
  _meta: { "example.com/group": "numbers" },
  run: async () => toolResult({ content: [], structuredContent: { total: 3 } }),
});

it.each(ERAS)("%s: icons, website, description, output schema and _meta", async (era) => {
  const about = { description: "Sums", websiteUrl: "https://acme.example/", icons: ICONS };
  endpoint = await openTestEndpoint(
    { tools: [sum], ...about },
    { authenticate: testAuthenticate({ alice: { vendorTokens: ["token"] } }) },
  );
  const client = await endpoint.connect("alice", era);
  expect(client.getServerVersion()).toMatchObject(about);
  const [tool] = (await client.listTools()).tools;
  expect(tool).toMatchObject({ icons: ICONS, _meta: { "example.com/group": "numbers" } });
  expect(tool?.outputSchema).toMatchObject({ properties: { total: { type: "number" } } });
  expect((await client.callTool({ name: "sum", arguments: {} })).structuredContent).toEqual({ total: 3 });
});
