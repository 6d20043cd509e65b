/**
 * The client of the SDK's first generation, unchanged, which implements 2025-11-25. The conformance
 * suite depends on it; our code does not.
 */
import { createRequire } from "node:module";
import { shared } from "@oauth-broker/oauth-core/testing";
import { expect, it } from "vitest";
import { openLinkedCalls } from "../../testing/linking/linked-calls.ts";
import { testTool } from "../../testing/test-tool.ts";

const post = testTool("post", {
  vendor: "slack",
  scopes: ["chat:write"],
  run: async (_, { vendor }) => vendor.accessToken(),
});
const calls = shared(() => openLinkedCalls([post]));

type Sdk = Pick<typeof import("@modelcontextprotocol/client"), "Client" | "StreamableHTTPClientTransport">;
const ofEndToEnd = createRequire(new URL("../../../../../e2e/package.json", import.meta.url));
const ofSuite = createRequire(ofEndToEnd.resolve("@modelcontextprotocol/conformance/package.json"));
const load = (path: string) => ofSuite(`@modelcontextprotocol/sdk/client/${path}.js`) as Sdk;
const [{ Client }, { StreamableHTTPClientTransport }] = [load("index"), load("streamableHttp")];

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
  expect(content).toMatchObject([{ text: expect.stringMatching(/\nhttps:\/\/server\.example\/connect\/2$/) }]);
  await client.close();
});
