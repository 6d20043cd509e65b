/** The SDK's own client, unchanged, in both eras: what its user is asked, and what a tool gets. */
import { UrlElicitationRequiredError } from "@modelcontextprotocol/client";
import { ofEachTest } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { openLinkedCalls, WAIT_SECONDS } from "../../testing/linking/linked-calls.ts";
import { testTool } from "../../testing/test-tool.ts";

const tools = [
  testTool("post", {
    title: "Post",
    input: z.object({ word: z.string().optional() }),
    vendor: "slack",
    scopes: ["chat:write"],
    run: async (_, { vendor, user }) => ({ user, token: await vendor.accessToken() }),
  }),
  testTool("both", {
    vendors: { github: { scopes: ["repo"] }, slack: { scopes: ["chat:write"] } },
    run: async (_, { vendors }) => [await vendors.github.accessToken(), await vendors.slack.accessToken()],
  }),
  testTool("none", { run: async (_, { vendors, user }) => ({ user, vendors: Object.keys(vendors ?? {}) }) }),
  testTool("careless", { run: async (_, { vendor }) => vendor.id }),
];

const calls = ofEachTest(() => openLinkedCalls(tools));

const textOf = (result: { readonly content: unknown }): string =>
  (result.content as readonly { readonly text: string }[]).map(({ text }) => text).join("\n");

describe("a client of 2026-07-28 that shows URLs", () => {
  it("asks its user and gets the result of the same call, once the account is linked", async () => {
    const shown: string[] = [];
    const client = await calls.connect("alice.desk", "auto", (url, message) => {
      shown.push(`${url} ${message}`);
      const [ticket] = calls.tickets;
      if (ticket !== undefined) calls.link(ticket);
      return "accept";
    });
    const result = await client.callTool({ name: "post", arguments: { word: "hi" } });
    expect(JSON.parse(textOf(result))).toEqual({ user: "alice", token: "slack-token-of-alice" });
    expect(shown).toEqual([
      "https://server.example/connect/1 Post needs your The slack account, connected with chat:write.",
    ]);
    expect(calls.tickets).toMatchObject([{ vendor: "slack", scopes: ["chat:write"], user: "alice" }]);
    expect(calls.clock()).toBe(1_700_000_000);
  });

  it("asks for all that is missing at once", async () => {
    const shown: string[] = [];
    const client = await calls.connect("alice.desk", "auto", (url) => {
      shown.push(url);
      if (shown.length === 2) calls.tickets.forEach(calls.link);
      return "accept";
    });
    const result = await client.callTool({ name: "both", arguments: {} });
    expect(JSON.parse(textOf(result))).toEqual(["github-token-of-alice", "slack-token-of-alice"]);
    expect(shown).toEqual(["https://server.example/connect/1", "https://server.example/connect/2"]);
  });

  it("waits for a user who takes a minute, over several rounds, with the same URL and one ticket", async () => {
    const shown: string[] = [];
    const client = await calls.connect("alice.desk", "auto", (url) => {
      shown.push(url);
      return "accept";
    });
    calls.onPause = (count) => {
      if (count === 60) calls.tickets.forEach(calls.link);
    };
    const result = await client.callTool({ name: "post", arguments: {} });
    expect(textOf(result)).toContain("slack-token-of-alice");
    expect(shown).toEqual(Array.from({ length: 3 }, () => "https://server.example/connect/1"));
    expect(calls.tickets).toHaveLength(1);
    expect(calls.clock() - 1_700_000_000).toBe(60);
  });

  it("stops after ten rounds of a user who does nothing: the session goes on", async () => {
    const client = await calls.connect("alice.desk", "auto");
    await expect(client.callTool({ name: "post", arguments: {} })).rejects.toThrow(/10 rounds/);
    expect(calls.clock() - 1_700_000_000).toBe(10 * WAIT_SECONDS);
    expect(calls.tickets).toHaveLength(1);
    expect(textOf(await client.callTool({ name: "none", arguments: {} }))).toContain("alice");
  });

  it.each([
    ["decline", "link_declined"],
    ["cancel", "link_cancelled"],
  ] as const)("reports to the model what its user did: %s", async (action, code) => {
    const client = await calls.connect("alice.desk", "auto", () => action);
    const result = await client.callTool({ name: "post", arguments: {} });
    expect(result).toMatchObject({ isError: true, structuredContent: { error: code, vendor: "slack" } });
    expect(textOf(result).split(" ")[0]).toBe(code);
    expect(calls.tickets).toMatchObject([{ state: "gone" }]);
  });

  it("reports what the user denied on the page", async () => {
    const client = await calls.connect("alice.desk", "auto");
    calls.onPause = () => {
      for (const ticket of calls.tickets) ticket.state = "denied";
    };
    const result = await client.callTool({ name: "post", arguments: {} });
    expect(result).toMatchObject({ isError: true, structuredContent: { error: "link_declined" } });
    expect(calls.clock() - 1_700_000_000).toBe(1);
  });

  it("asks anew when the ticket has ended", async () => {
    const client = await calls.connect("alice.desk", "auto", (url) => {
      const at = calls.tickets.findIndex((ticket) => ticket.url === url);
      const ticket = calls.tickets[at];
      if (ticket !== undefined && at === 0) ticket.state = "gone";
      if (ticket !== undefined && at === 1) calls.link(ticket);
      return "accept";
    });
    expect(textOf(await client.callTool({ name: "post", arguments: {} }))).toContain("slack-token-of-alice");
    expect(calls.tickets).toHaveLength(2);
  });
});

describe("a client of 2025-11-25 that shows URLs", () => {
  it("gets the same list as error -32042, and the result when it calls again", async () => {
    const client = await calls.connect("alice.desk", "legacy");
    const error: unknown = await client.callTool({ name: "both", arguments: {} }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UrlElicitationRequiredError);
    expect((error as UrlElicitationRequiredError).elicitations).toEqual([
      {
        mode: "url",
        elicitationId: "id-1",
        url: "https://server.example/connect/1",
        message: "both needs your The github account, connected with repo.",
      },
      {
        mode: "url",
        elicitationId: "id-2",
        url: "https://server.example/connect/2",
        message: "both needs your The slack account, connected with chat:write.",
      },
    ]);
    calls.tickets.forEach(calls.link);
    const result = await client.callTool({ name: "both", arguments: {} });
    expect(JSON.parse(textOf(result))).toEqual(["github-token-of-alice", "slack-token-of-alice"]);
  });
});

describe.each(["auto", "legacy"] as const)("a client that shows no URLs, %s", (era) => {
  it("gets a text for the model with the first URL alone on its last line", async () => {
    const client = await calls.connect("alice.desk", era, "no_elicitation");
    const result = await client.callTool({ name: "both", arguments: {} });
    expect(result.isError).toBe(true);
    expect(result.content).toHaveLength(1);
    expect(textOf(result).split("\n").at(-1)).toBe("https://server.example/connect/1");
    expect(textOf(result).split("https://")).toHaveLength(2);
    expect(calls.tickets).toMatchObject([{ vendor: "github" }]);
  });
});

describe.each(["auto", "legacy"] as const)("a tool, %s", (era) => {
  it("that names none runs without links, and has no vendors", async () => {
    const client = await calls.connect("alice.desk", era);
    const result = await client.callTool({ name: "none", arguments: {} });
    expect(JSON.parse(textOf(result))).toEqual({ user: "alice", vendors: [] });
    expect(textOf(await client.callTool({ name: "careless", arguments: {} }))).toMatch(/^The tool failed\./);
  });
});
