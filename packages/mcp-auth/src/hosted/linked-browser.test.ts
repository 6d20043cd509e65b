/**
 * The whole of it: the SDK's own client calls a tool, its user opens the URL in a browser, signs in,
 * consents at the second vendor, and the same call goes on. Two OpenID providers, no stub.
 */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { ofEachTest } from "@oauth-broker/oauth-core/testing";
import { beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { SERVER } from "../testing/hosted-fixture.ts";
import { openLinkingFixture } from "../testing/linking/fixture.ts";
import { openMcpOver } from "../testing/linking/mcp-over.ts";
import { defineTool, SIGN_IN_VENDOR } from "../tool.ts";

const whois = defineTool({
  name: "whois",
  description: "w",
  input: z.object({}),
  annotations: { readOnlyHint: true },
  vendors: { [SIGN_IN_VENDOR]: { scopes: ["openid"] }, chat: { scopes: ["openid", "api:read"] } },
  run: async (_, { vendors, user }) => {
    const [home, chat] = [await vendors.sign_in.account(), await vendors.chat.account()];
    return { user, home: home["sub"], chat: chat["sub"] } as Record<string, string>;
  },
});

const seen: string[] = [];

beforeEach(() => {
  seen.length = 0;
});
const fixture = ofEachTest(() => openLinkingFixture({ linking: { elicitationWaitSeconds: 5 } }));
const visitor = ofEachTest(() => fixture.visitor());
const mcp = ofEachTest(() => openMcpOver(fixture, [whois], fetch));

/** @param onUrl the user */
async function connect(access: string, onUrl: (url: string) => Promise<unknown>): Promise<Client> {
  const client = new Client(
    { name: "test", version: "1" },
    { capabilities: { elicitation: { url: {} } }, versionNegotiation: { mode: "auto" } },
  );
  // The SDK shows all at once; a user goes through them one by one.
  let turn: Promise<unknown> = Promise.resolve();
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    turn = turn.then(() => onUrl("url" in params ? String(params.url) : ""));
    await turn;
    return { action: "accept" };
  });
  const transport = new StreamableHTTPClientTransport(mcp.url, {
    requestInit: { headers: { authorization: `Bearer ${access}` } },
    fetch: async (url, init) => {
      const answer = await fetch(url, init);
      seen.push(await answer.clone().text());
      return answer;
    },
  });
  await client.connect(transport);
  return client;
}

it("two vendors are linked one after another in one browser, during one call", async () => {
  const { access } = await fixture.call();
  const opened: string[] = [];
  const client = await connect(access, async (url) => {
    opened.push((await visitor.link({ url })).url.href);
  });
  const result = await client.callTool({ name: "whois", arguments: {} });
  expect(result.content).toMatchObject([{ type: "text" }]);
  const [content] = result.content as readonly { readonly text?: string }[];
  const { user, home, chat } = JSON.parse(content?.text ?? "") as Record<string, string>;
  expect([user, home, typeof chat]).toEqual(["user", "user", "string"]);
  expect(opened).toEqual([`${SERVER}/connections?linked=home`, `${SERVER}/connections?linked=chat`]);
  // Again without a question, by another client session of the user.
  const other = await connect((await fixture.call()).access, async () => expect.unreachable("asked again"));
  expect((await other.callTool({ name: "whois", arguments: {} })).content).toEqual(result.content);
  for (const vendor of ["home", "chat"] as const) {
    const token = await fixture.linked(vendor);
    expect(token).toBeTypeOf("string");
    expect(seen.join("\n")).not.toContain(token);
  }
  await Promise.all([client.close(), other.close()]);
});

it("a user who denies on the page is reported to the model", async () => {
  const { access } = await fixture.call();
  const client = await connect(access, async (url) => {
    await visitor.press(await visitor.open(url.slice(SERVER.length)), "deny");
  });
  const result = await client.callTool({ name: "whois", arguments: {} });
  expect(result).toMatchObject({ isError: true, structuredContent: { error: "link_declined" } });
  expect(fixture.chat.requests()).toEqual([]);
  await client.close();
});

it("an outage of the store is a tool error, and no session ends", async () => {
  const client = await connect((await fixture.call()).access, async () => expect.unreachable("asked"));
  fixture.down.add("tokens");
  const { isError, content } = await client.callTool({ name: "whois", arguments: {} });
  expect([isError, content]).toMatchObject([true, [{ text: expect.stringContaining("try again in a moment") }]]);
  await client.close();
});
