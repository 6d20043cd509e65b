/**
 * The client of the SDK's first generation, unchanged, which speaks 2025-11-25. The conformance
 * suite depends on it; nothing of ours does.
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { type LinkedCalls, openLinkedCalls } from "../../testing/linked-calls.ts";
import { defineTool } from "../../tool.ts";

interface FirstClient {
  connect(transport: object): Promise<void>;
  callTool(
    call: object,
  ): Promise<{ readonly isError?: boolean; readonly content: readonly { readonly text: string }[] }>;
  close(): Promise<void>;
}
type FirstSdk = {
  readonly Client: new (info: object, options: object) => FirstClient;
  readonly StreamableHTTPClientTransport: new (
    url: URL,
    options: object,
  ) => { readonly sessionId?: string; terminateSession(): Promise<void> };
};

const ofTests = createRequire(join(import.meta.dirname, "../../../../../e2e/package.json"));
const ofSuite = createRequire(ofTests.resolve("@modelcontextprotocol/conformance/package.json"));
const load = (path: string): Partial<FirstSdk> => ofSuite(`@modelcontextprotocol/sdk/client/${path}.js`);
const { Client, StreamableHTTPClientTransport } = { ...load("index"), ...load("streamableHttp") } as FirstSdk;

let calls: LinkedCalls;
beforeAll(async () => {
  const post = defineTool({
    name: "post",
    description: "p",
    input: z.object({}),
    vendor: "slack",
    scopes: ["chat:write"],
    run: async (_, { vendor }) => vendor.accessToken(),
  });
  calls = await openLinkedCalls([post]);
});
afterAll(() => calls.close());

async function connect(capabilities: object) {
  const client = new Client({ name: "first", version: "1" }, { capabilities });
  const requestInit = { headers: { authorization: "Bearer alice.desk" } };
  const transport = new StreamableHTTPClientTransport(new URL(calls.url), { requestInit });
  await client.connect(transport);
  return { client, transport };
}

it("is shown URLs where it declared that, and calls again once its user is done", async () => {
  const { client, transport } = await connect({ elicitation: { url: {} } });
  expect(transport.sessionId).toMatch(/^[\w-]+$/);
  const error = await client.callTool({ name: "post", arguments: {} }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    code: -32042,
    elicitations: [{ mode: "url", elicitationId: "id-1", url: "https://server.example/connect/1" }],
  });
  calls.tickets.forEach(calls.link);
  expect((await client.callTool({ name: "post", arguments: {} })).content).toMatchObject([
    { text: "slack-token-of-alice" },
  ]);
  // There is no session to end: 405, which the SDK takes for an answer.
  await transport.terminateSession();
  await client.close();
});

it("gets a text for the model where it declared nothing", async () => {
  calls.setLink("alice", "slack", { dead: undefined });
  const { client } = await connect({});
  const { isError, content } = await client.callTool({ name: "post", arguments: {} });
  expect(isError).toBe(true);
  expect(content.map(({ text }) => text.split("\n").at(-1))).toEqual(["https://server.example/connect/2"]);
  await client.close();
});
