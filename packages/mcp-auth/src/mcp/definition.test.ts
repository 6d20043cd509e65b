/** What a definition says beside its tools reaches clients as it is. */
import { afterEach, expect, it } from "vitest";
import { defineTool, type ToolAnswer, toolResult } from "../tool.ts";
import { z } from "zod";
import { ERAS, openTestEndpoint, type TestEndpoint, testAuthenticate } from "../testing/test-endpoint.ts";

let endpoint: TestEndpoint | undefined;
afterEach(() => endpoint?.close());

const ICONS = [{ src: "https://acme.example/icon.png", mimeType: "image/png" }];
const SUMS: Record<string, () => unknown> = {
  result: () => toolResult({ content: [], structuredContent: { total: 3 } }),
  json: () => ({ total: 3 }),
  other: () => ({ total: "3" }),
  text: () => "3",
  nothing: () => undefined,
};
const sum = defineTool({
  name: "sum",
  description: "Adds",
  input: z.object({ how: z.enum(Object.keys(SUMS)) }),
  outputSchema: z.object({ total: z.number() }),
  icons: ICONS,
  _meta: { "example.com/group": "numbers" },
  run: async ({ how }) => SUMS[how]?.() as ToolAnswer,
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
  for (const how of ["result", "json"])
    expect((await client.callTool({ name: "sum", arguments: { how } })).structuredContent).toEqual({ total: 3 });
});

it.each(["other", "text", "nothing"])(
  "fails a call whose answer is not of its schema, in the log too: %s",
  async (how) => {
    endpoint = await openTestEndpoint(
      { tools: [sum] },
      { authenticate: testAuthenticate({ alice: { vendorTokens: ["token"] } }) },
    );
    const client = await endpoint.connect("alice", ERAS[0]);
    expect(await client.callTool({ name: "sum", arguments: { how } })).toMatchObject({ isError: true });
    const line = endpoint.lines.find((text) => text.includes('"tool_call"')) ?? "";
    expect(JSON.parse(line)).toMatchObject({ level: "error", reason: "tool_failed" });
  },
);
