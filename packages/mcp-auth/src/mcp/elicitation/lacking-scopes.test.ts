/** What a call does where scopes are missing: in the session, in the link, or only to the vendor. */
import { UrlElicitationRequiredError } from "@modelcontextprotocol/client";
import { REGISTRY } from "@oauth-broker/oauth-core/registry";
import { ofEachTest } from "@oauth-broker/oauth-core/testing";
import { beforeEach, describe, expect, it } from "vitest";
import { openLinkedCalls } from "../../testing/linking/linked-calls.ts";
import { initialize, legacyCall, modernCall } from "../../testing/linking/raw-calls.ts";
import { askedBeyond } from "../../testing/linking/replayed-state.ts";
import { NeedsScope, type Tool, ToolError } from "../../tool.ts";
import type { ElicitationDeps } from "./deps.ts";
import { askableAt } from "./find-links.ts";
import { testTool } from "../../testing/test-tool.ts";

let runs = 0;
const tool = (name: string, members: Partial<Tool>): Tool =>
  testTool(name, {
    vendor: "slack",
    scopes: ["chat:write"],
    run: async (_, { vendor }) => {
      runs += 1;
      const answer = await vendor.fetch("https://api.slack.example/post");
      return `${answer.status} ${await answer.text()}`;
    },
    ...members,
  });
const raising = (vendor: string, scopes: readonly string[]): Partial<Tool> => ({
  annotations: { readOnlyHint: true },
  run: async () => {
    throw new NeedsScope(vendor, scopes);
  },
});

const tools = [
  tool("write", {}),
  tool("read", { annotations: { readOnlyHint: true } }),
  tool("put", { annotations: { idempotentHint: true } }),
  tool("needs", raising("slack", ["chat:write"])),
  tool("needs_unlisted", raising("slack", ["users:read"])),
  tool("needs_unknown", raising("slack", ["chat:write", "admin"])),
  tool("needs_other", raising("github", ["repo"])),
  tool("needs_nothing", raising("slack", [])),
  tool("caught", {
    annotations: { readOnlyHint: true },
    run: async (_, { vendor }) => {
      const error: unknown = await vendor.fetch("https://api.slack.example/").catch((thrown: unknown) => thrown);
      return `caught ${(error as Error).name}`;
    },
  }),
  tool("empty", {
    run: async () => {
      throw new ToolError("The list is empty");
    },
  }),
  testTool("both", {
    vendors: { github: { scopes: ["repo", "user"] }, slack: { scopes: ["chat:write"] } },
  }),
];

const calls = ofEachTest(() => openLinkedCalls(tools));
beforeEach(() => {
  runs = 0;
  calls.setLink("alice", "slack", {});
  calls.setLink("alice", "github", {});
});

const forbidden = (challenge: string) => () =>
  new Response("no", { status: 403, headers: { "www-authenticate": challenge } });
const WANTS = 'Bearer realm="slack", error="insufficient_scope", scope="chat:write"';
const call = (name: string) => calls.send("alice.desk", ...modernCall(name));

describe("what the session lacks", () => {
  it.each([
    ["2026-07-28", modernCall],
    ["2025-11-25", legacyCall],
  ])("bar#RS-3 is 403 with all scopes, prefixed, and never asked of the user, %s", async (_, callOf) => {
    calls.scopes.set("alice.desk.narrow", ["github:repo", "slack:users:read"]);
    calls.setLink("alice", "slack", "missing");
    const answer = await calls.send("alice.desk.narrow", ...callOf("both"));
    expect(answer.status).toBe(403);
    const challenge = answer.headers.get("www-authenticate");
    expect(challenge).toContain('error="insufficient_scope"');
    expect(challenge).toContain('scope="github:repo github:user slack:chat:write"');
    expect(calls.tickets).toEqual([]);
  });

  it("counts by vendor: one vendor's scope is not another's of the same name", async () => {
    calls.scopes.set("alice.desk.narrow", ["github:repo", "github:user", "github:chat:write"]);
    expect((await calls.send("alice.desk.narrow", ...modernCall("write"))).status).toBe(403);
  });
});

describe("what only the link lacks", () => {
  it("is asked for together with what the link has", async () => {
    calls.setLink("alice", "slack", { scope: ["users:read", "files:read"] });
    const { body } = await call("write");
    expect(body.result.resultType).toBe("input_required");
    expect(calls.tickets).toMatchObject([{ vendor: "slack", scopes: ["users:read", "files:read", "chat:write"] }]);
  });

  it("is asked for together with what a dead link had", async () => {
    calls.setLink("alice", "slack", { dead: ["users:read"] });
    await call("write");
    expect(calls.tickets).toMatchObject([{ vendor: "slack", scopes: ["users:read", "chat:write"] }]);
  });

  it("is not asked for where the vendor does not report what it granted", async () => {
    calls.setLink("alice", "slack", { scope: undefined });
    expect((await call("write")).text).toContain("200");
    expect(calls.tickets).toEqual([]);
  });

  it("is not asked for again once the user has not granted it", async () => {
    calls.setLink("alice", "slack", { scope: ["users:read"], notGranted: ["chat:write"] });
    const { body } = await call("write");
    expect(body.result).toMatchObject({
      isError: true,
      structuredContent: { error: "scope_not_granted", vendor: "slack" },
      content: [{ text: expect.stringMatching(/^scope_not_granted .*https:\/\/server\.example\/connections$/) }],
    });
    expect(calls.tickets).toEqual([]);
  });

  it("is asked for with everything else that is missing, and the tool does not run before", async () => {
    calls.setLink("alice", "slack", { scope: ["users:read"] });
    calls.setLink("alice", "github", { dead: undefined });
    const { body } = await call("both");
    expect(Object.keys(body.result.inputRequests)).toEqual(["github", "slack"]);
    expect(body.result.inputRequests.slack).toEqual({
      method: "elicitation/create",
      params: { mode: "url", url: "https://server.example/connect/2", message: expect.any(String) },
    });
    expect(calls.tickets.map(({ vendor, scopes }) => [vendor, scopes])).toEqual([
      ["github", ["repo", "user"]],
      ["slack", ["users:read", "chat:write"]],
    ]);
  });
});

describe("a 403 of the vendor that names scopes", () => {
  it.each(["read", "put"])("is asked for, and the tool may be run again: %s", async (name) => {
    calls.onVendor = forbidden(WANTS);
    const { body } = await call(name);
    expect(body.result.inputRequests.slack.params.url).toBe("https://server.example/connect/1");
    // A retry before the user is done does not call the vendor again.
    const retried = await calls.send("alice.desk", ...modernCall(name, { requestState: body.result.requestState }));
    expect(retried.body.result.inputRequests.slack.params.url).toBe("https://server.example/connect/1");
    expect([runs, calls.tickets.length]).toEqual([1, 1]);
    calls.tickets.forEach(calls.link);
    calls.onVendor = () => new Response("fine");
    const { requestState } = retried.body.result;
    expect((await calls.send("alice.desk", ...modernCall(name, { requestState }))).text).toContain("200 fine");
  });

  it("is error -32042 in 2025-11-25", async () => {
    calls.onVendor = forbidden(WANTS);
    const client = await calls.connect("alice.desk", "legacy");
    await expect(client.callTool({ name: "read", arguments: {} })).rejects.toBeInstanceOf(UrlElicitationRequiredError);
  });

  it("is a tool error with the URL where the tool may have had effects", async () => {
    calls.onVendor = forbidden(WANTS);
    const { body } = await call("write");
    expect(body.result).toMatchObject({ isError: true, content: [{ type: "text" }] });
    const lines = body.result.content[0].text.split("\n");
    expect(lines.at(-1)).toBe("https://server.example/connect/1");
    expect(lines[0]).toContain("may have had effects");
    expect(runs).toBe(1);
  });

  it("is scope_not_granted the second time", async () => {
    const named: string[] = [];
    const lacks = async (scope: string) => named.push(scope) === 1;
    calls.setLink("alice", "slack", { lacks });
    calls.onVendor = forbidden(WANTS);
    expect((await call("read")).body.result.resultType).toBe("input_required");
    expect((await call("read")).body.result).toMatchObject({ structuredContent: { error: "scope_not_granted" } });
    expect(named).toEqual(["chat:write", "chat:write"]);
  });

  it("is left to the tool if it names none", async () => {
    calls.onVendor = forbidden('Bearer error="insufficient_scope"');
    expect((await call("read")).text).toContain("403 no");
    expect(calls.tickets).toEqual([]);
  });

  it("is the tool's to handle first", async () => {
    calls.onVendor = forbidden(WANTS);
    expect((await call("caught")).text).toContain("caught NeedsScope");
    expect(calls.tickets).toEqual([]);
  });
});

describe("a response of the vendor that says in its own way which scopes lack", () => {
  const scopeRefusal = REGISTRY.get("slack")?.vendor.scopeRefusal;
  const missing = (needed: string) => () => Response.json({ ok: false, error: "missing_scope", needed });
  const own = ofEachTest(() => openLinkedCalls(tools, scopeRefusal === undefined ? {} : { scopeRefusal }));
  beforeEach(() => {
    own.setLink("alice", "slack", {});
  });
  const send = (name: string) => own.send("alice.desk", ...modernCall(name));

  it("is asked for, and the tool may be run again", async () => {
    own.onVendor = missing("chat:write");
    const { requestState } = (await send("read")).body.result;
    expect(own.tickets).toMatchObject([{ vendor: "slack", scopes: ["chat:write", "users:read"] }]);
    own.tickets.forEach(own.link);
    own.onVendor = () => Response.json({ ok: true });
    expect((await own.send("alice.desk", ...modernCall("read", { requestState }))).text).toContain("200");
  });

  it.each(["users:read", "chat:write,admin", "admin"])(
    "bar#LK-8 is a tool error, and no user is asked, where the tool does not list %s",
    async (needed) => {
      own.onVendor = missing(needed);
      const { body } = await send("read");
      expect([body.result.isError, own.tickets]).toEqual([true, []]);
    },
  );

  it("is the tool's own to read where its vendor's entry says nothing of it", async () => {
    calls.onVendor = missing("chat:write");
    expect((await call("read")).text).toContain("200");
    expect(calls.tickets).toEqual([]);
  });
});

describe("NeedsScope", () => {
  it("is asked for where the tool lists the scope", async () => {
    expect((await call("needs")).body.result.resultType).toBe("input_required");
  });

  it.each(["needs_unlisted", "needs_unknown", "needs_other", "needs_nothing"])(
    "is a tool error for anything else: %s",
    async (name) => {
      const { body } = await call(name);
      expect(body.result).toMatchObject({ isError: true });
      expect(body.result.content[0].text).toContain("does not permit this");
      expect(calls.tickets).toEqual([]);
    },
  );
});

describe("the most that is asked for", () => {
  it("is what the deployment, the session and the tool's list all have", () => {
    const vendors = new Map([["slack", { scopes: ["a", "b", "c"] }]]) as unknown as ElicitationDeps["vendors"];
    const named = { name: "slack", id: "slack", scopes: ["a", "b", "x"] };
    expect(askableAt(named, { sessionScope: () => ["a", "c", "x"] }, { vendors })).toEqual(["a"]);
    expect(askableAt({ ...named, id: "other" }, { sessionScope: () => ["a"] }, { vendors })).toEqual([]);
  });

  it("bar#LK-8 is no scope of another list, whatever the vendor's 403 names", async () => {
    expect(await askedBeyond()).toEqual([]);
  });
});

describe("a link that dies while the tool runs", () => {
  it.each([
    ["read", "input_required"],
    ["write", undefined],
  ])("is asked for: %s", async (name, resultType) => {
    calls.onVendor = () => new Response("", { status: 401 });
    const { body } = await call(name);
    expect(body.result.resultType === "input_required" ? "input_required" : undefined).toBe(resultType);
    expect(calls.tickets).toMatchObject([{ vendor: "slack", scopes: ["chat:write"] }]);
    if (resultType === undefined)
      expect(body.result.content[0].text).toMatch(/\nhttps:\/\/server\.example\/connect\/1$/);
  });

  it("is not searched for where a tool fails for a reason of its own", async () => {
    expect((await call("empty")).text).toContain("The list is empty");
    expect(calls.tickets).toEqual([]);
  });
});

it("a 2025-11-25 client without declared URLs or Mcp-Session-Id gets text", async () => {
  calls.setLink("alice", "slack", "missing");
  const ids = [];
  for (const capabilities of [{}, { elicitation: {} }, { elicitation: { form: {} } }, { elicitation: { url: null } }]) {
    ids.push((await calls.send("alice.desk", initialize(capabilities))).headers.get("mcp-session-id") ?? "none");
  }
  expect(ids).not.toContain("none");
  for (const id of [...ids, "", "unknown", "x".repeat(8_000)]) {
    const [message, headers] = legacyCall("write");
    const answer = await calls.send("alice.desk", message, { ...headers, "mcp-session-id": id });
    expect([answer.status, answer.body.result?.isError]).toEqual([200, true]);
  }
});
