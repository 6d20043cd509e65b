/**
 * Calls of tools with this server's own sessions, tickets and links behind them: only the pages are
 * left out, and a test decides in the user's place.
 */
import { Secret } from "@oauth-broker/oauth-core";
import type { TokenSet } from "@oauth-broker/token-store";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { type McpOver, openMcpOver } from "../testing/linking/mcp-over.ts";
import { initialize, legacyCall, modernCall, type RawCall, rawRequest } from "../testing/linking/raw-calls.ts";
import { openStubLinkingFixture, type StubLinkingFixture } from "../testing/linking/stub-linking.ts";
import { defineTool, SIGN_IN_VENDOR } from "../tool.ts";
import type { Tickets } from "./tickets/tickets.ts";
import { atVendor, linkKey } from "./links/link.ts";

const SERVER = "https://server.example";
let runs = 0;
const tools = [
  defineTool({
    name: "post",
    description: "p",
    input: z.object({ text: z.string().optional() }),
    annotations: { idempotentHint: true },
    vendor: "chat",
    scopes: ["post"],
    run: async (_, { vendor }) => {
      runs += 1;
      const answer = await vendor.fetch("https://api.chat.example/post");
      return `posted with ${await answer.text()}`;
    },
  }),
  defineTool({
    name: "me",
    description: "m",
    input: z.object({}),
    vendor: SIGN_IN_VENDOR,
    scopes: [],
    run: async (_, { vendor, user }) => ({ id: vendor.id, user, length: (await vendor.accessToken()).length }),
  }),
];

let fixture: StubLinkingFixture;
let mcp: McpOver;
let tickets: Tickets;
let token: string;
/** How the API of `chat` answers. */
let api: (token: string) => Response;

beforeEach(async () => {
  runs = 0;
  api = (sent) => new Response(sent);
  fixture = await openStubLinkingFixture({ linking: { elicitationWaitSeconds: 0 } });
  if (fixture.linking === undefined) throw new Error("no links");
  ({ tickets } = fixture.linking);
  const { links } = fixture.settings;
  const vendors = new Map([...links.vendors].map(([id, one]) => [id, { ...one, apiHosts: [`api.${id}.example`] }]));
  mcp = openMcpOver(fixture, tools, {
    links: { ...links, vendors },
    fetch: async (_, init) => api(new Headers(init?.headers).get("authorization")?.slice("Bearer ".length) ?? ""),
  });
  token = await signIn("main:read chat:post");
});
afterEach(async () => {
  await mcp.close();
  await fixture.close();
});

async function signIn(scope: string): Promise<string> {
  return (await fixture.connect({ scope })).body["access_token"] ?? "";
}

async function send(call: RawCall, bearer = token) {
  const answer = await mcp.request(rawRequest(bearer, ...call));
  const text = await answer.text();
  const json = text.startsWith("{") ? text : (/^data: (\{.*)$/m.exec(text)?.[1] ?? "null");
  return { status: answer.status, headers: answer.headers, body: JSON.parse(json) };
}

const askedUrl = (body: { result: { inputRequests: { chat: { params: { url: string } } } } }): string =>
  body.result.inputRequests.chat.params.url;

/** In the user's place: the page, the vendor, and the callback that stores the link. */
async function decide(url: string, outcome: "linked" | "denied", tokens: Partial<TokenSet> = {}): Promise<void> {
  const ticket = await tickets.find(url.slice(`${SERVER}/connect/`.length));
  if (ticket === undefined) throw new Error("no ticket");
  expect(await tickets.decide(ticket.id, outcome === "linked" ? "approved" : "denied")).toBe(true);
  if (outcome === "denied") return;
  const key = linkKey(ticket.user, atVendor("chat", fixture));
  const { linkVersion } = await fixture.tokens.readLink(key);
  const accessToken = new Secret(`chat-token-${linkVersion}`);
  const link = { linkedAt: fixture.now(), lacked: {}, notGranted: [] };
  const { stored } = await fixture.tokens.readLink(key);
  const kept = typeof stored === "object" ? stored.tokens.link : undefined;
  const whole = { accessToken, tokenType: "Bearer", scope: "post", link: kept ?? link, ...tokens };
  await fixture.tokens.link(key, whole, linkVersion);
  await tickets.settle(ticket.id, "linked");
}

describe("a call that needs a link", () => {
  it("asks, waits for the same page, and runs once its user has linked the account", async () => {
    const first = await send(modernCall("post"));
    const url = askedUrl(first.body);
    expect(url).toMatch(/^https:\/\/server\.example\/connect\/[\w-]{43}$/);
    const { requestState } = first.body.result;
    const second = await send(modernCall("post", { requestState }));
    expect(askedUrl(second.body)).toBe(url);
    expect(runs).toBe(0);
    await decide(url, "linked");
    const third = await send(modernCall("post", { requestState: second.body.result.requestState }));
    expect(third.body.result.content[0].text).toBe("posted with chat-token-0");
    expect(runs).toBe(1);
  });

  it("reports what the user denied, and asks with a new page when it is called again", async () => {
    const { body } = await send(modernCall("post"));
    await decide(askedUrl(body), "denied");
    const retried = await send(modernCall("post", { requestState: body.result.requestState }));
    expect(retried.body.result.structuredContent).toEqual({ error: "link_declined", vendor: "chat" });
    expect(askedUrl((await send(modernCall("post"))).body)).not.toBe(askedUrl(body));
  });

  it("ends the page of a client that cancels", async () => {
    const { body } = await send(modernCall("post"));
    const { requestState } = body.result;
    const answer = { requestState, inputResponses: { chat: { action: "cancel" } } };
    const cancelled = await send(modernCall("post", answer));
    expect(cancelled.body.result.structuredContent).toEqual({ error: "link_cancelled", vendor: "chat" });
    expect(await tickets.find(askedUrl(body).slice(`${SERVER}/connect/`.length))).toBeUndefined();
  });

  it("is error -32042 for a 2025-11-25 client that declared URLs, in every process", async () => {
    const started = await send([initialize(), {}]);
    const [message, headers] = legacyCall("post");
    const session = { "mcp-session-id": started.headers.get("mcp-session-id") ?? "" };
    const { body } = await send([message, { ...headers, ...session }]);
    expect(body.error).toMatchObject({ code: -32042, data: { elicitations: [{ mode: "url" }] } });
    // Another session of the same user and client.
    const other = await signIn("main:read chat:post");
    const again = await send([message, { ...headers, ...session }], other);
    expect(again.body.error.data).toEqual(body.error.data);
  });

  it("is 403 where the session lacks the scope: nothing is asked", async () => {
    const narrow = await signIn("main:read");
    const { status, headers } = await send(modernCall("post"), narrow);
    expect([status, headers.get("www-authenticate")]).toEqual([403, expect.stringContaining('scope="chat:post"')]);
  });

  it("accepts no requestState of a session that has ended", async () => {
    const { body } = await send(modernCall("post"));
    await fixture.revoke(token);
    expect((await send(modernCall("post", { requestState: body.result.requestState }))).status).toBe(401);
  });
});

it("the vendor that signs users in is linked by that", async () => {
  const { body } = await send(modernCall("me"));
  expect(JSON.parse(body.result.content[0].text)).toEqual({ id: "main", user: "user", length: expect.any(Number) });
});

it("a scope that the vendor refuses although the link has it is asked for once", async () => {
  const { body } = await send(modernCall("post"));
  await decide(askedUrl(body), "linked");
  const challenge = 'Bearer error="insufficient_scope", scope="post"';
  api = () => new Response("", { status: 403, headers: { "www-authenticate": challenge } });
  const asked = await send(modernCall("post"));
  const { requestState } = asked.body.result;
  // Neither a retry nor another call before the user is done counts as the second refusal.
  expect(askedUrl((await send(modernCall("post", { requestState }))).body)).toBe(askedUrl(asked.body));
  expect(askedUrl((await send(modernCall("post"))).body)).toBe(askedUrl(asked.body));
  await decide(askedUrl(asked.body), "linked");
  const { result } = (await send(modernCall("post", { requestState }))).body;
  expect(result.structuredContent).toEqual({ error: "scope_not_granted", vendor: "chat" });
  expect(result.content[0].text).toMatch(/https:\/\/server\.example\/connections$/);
});

it("a link that has died is asked for with all it had", async () => {
  const { body } = await send(modernCall("post"));
  await decide(askedUrl(body), "linked", { scope: "post files:read", expiresAt: fixture.now() - 1 });
  const url = askedUrl((await send(modernCall("post"))).body);
  expect((await tickets.find(url.slice(`${SERVER}/connect/`.length)))?.scopes).toEqual(["files:read", "post"]);
  expect(runs).toBe(0);
});

it("an outage of the store is a tool error, and no session ends", async () => {
  fixture.down.add("tokens");
  const { status, body } = await send(modernCall("post"));
  expect([status, body.result.isError]).toEqual([200, true]);
  expect(body.result.content[0].text).toContain("try again in a moment");
  fixture.down.clear();
  expect((await send(modernCall("post"))).body.result.resultType).toBe("input_required");
});
