import { OAuthError } from "@oauth-broker/oauth-core";
import { shared } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Authenticate } from "../mode.ts";
import { ERAS, openTestEndpoint, testAuthenticate } from "../testing/test-endpoint.ts";
import { NeedsScope, ToolError } from "../tool.ts";
import { testTool } from "../testing/test-tool.ts";

const METADATA = "https://server.example/.well-known/oauth-protected-resource/mcp";
const CANARY = "canary-token-alice";

const tools = [
  testTool("who", { run: async (_, { user }) => user }),
  testTool("spell", {
    input: z.object({ word: z.string().min(1) }),
    run: async ({ word }, { progress }) => {
      for (const [index, letter] of word.split("").entries()) await progress(index + 1, word.length, letter);
      return { letters: word.length };
    },
  }),
  testTool("write", { scopes: ["api:read", "offline_access", "api:write"], run: async () => "ok" }),
  testTool("named", {
    vendors: { example: { scopes: ["api:write"] } },
    run: async (_, { vendor, vendors }) => `${vendors.example.id} ${vendor === vendors.example}`,
  }),
  testTool("unnamed", {
    scopes: [],
    run: async (_, { vendor, vendors }) => `${vendor.id} ${Object.keys(vendors ?? {}).length}`,
  }),
  testTool("needs", {
    scopes: [],
    run: async (_, { vendor }) => {
      throw new NeedsScope(vendor.id, ["api:more"]);
    },
  }),
  testTool("fail", {
    input: z.object({ how: z.enum(["error", "bug"]) }),
    run: async ({ how }, { vendor }) => {
      if (how === "error") throw new ToolError("The list is empty");
      throw new Error(`leaks ${await vendor.accessToken()}`);
    },
  }),
];

const NAMES = ["who", "spell", "write", "named", "unnamed", "needs", "fail"];

const known = testAuthenticate({
  alice: { vendorTokens: [CANARY], scope: ["api:read", "offline_access"] },
  writer: { vendorTokens: ["w"], scope: ["api:read", "api:write"] },
  unsaid: { vendorTokens: ["u"] },
});
const authenticate: Authenticate = async (bearer) => {
  if (bearer === "outage") throw new OAuthError("temporarily_unavailable", "The store does not answer");
  return known(bearer);
};

const endpoint = shared(() =>
  openTestEndpoint(
    {
      tools,
      configure: (configured) => {
        configured.registerPrompt("ask", {}, async () => ({ messages: [] }));
        configured.registerResource("page", "test://page", {}, async () => ({ contents: [] }));
      },
      requestState: {
        verify: async (state) => {
          if (state !== "ours") throw new Error("forged");
        },
      },
    },
    { authenticate, resourceMetadata: METADATA, scope: "api:read" },
  ),
);

const post = (headers: Record<string, string>, query = "") =>
  fetch(`${endpoint.url.href}${query}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: "{}",
  });

describe("without a good token", () => {
  it("bar#RS-1 names no error where no token was sent, and refers to the metadata", async () => {
    for (const headers of [
      {},
      { authorization: "Basic YTpi" },
      { authorization: "Bearer" },
      { authorization: "Bearer a b" },
    ]) {
      const answer = await post(headers);
      expect(answer.status).toBe(401);
      expect(answer.headers.get("www-authenticate")).toBe(`Bearer scope="api:read", resource_metadata="${METADATA}"`);
    }
  });

  it("bar#RS-2 answers invalid_token to an invalid one", async () => {
    const answer = await post({ authorization: "Bearer mallory" });
    expect(answer.status).toBe(401);
    expect(answer.headers.get("www-authenticate")).toMatch(/^Bearer error="invalid_token",/);
    expect(answer.headers.get("strict-transport-security")).not.toBeNull();
  });

  it.each([
    "Bearer alice, Bearer alice",
    "Bearer alice alice",
    "Token alice",
    `Basic ${btoa("platform:alice")}`,
    "alice",
    "Bearer\talice",
    'Bearer "alice"',
  ])("bar#RS-2 takes no token from the header %j", async (authorization) => {
    expect((await post({ authorization })).status).toBe(401);
  });

  it("bar#RS-4 reads no token from the query", async () => {
    expect((await post({}, "?access_token=alice")).status).toBe(401);
  });

  it("says 503 with Retry-After in an outage", async () => {
    const answer = await post({ authorization: "Bearer outage" });
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "5"]);
  });
});

describe("methods that are not served", () => {
  const METHODS = ["GET", "HEAD", "DELETE", "PUT", "PATCH", "OPTIONS", "PROPFIND"];
  const ask = (method: string, headers: Record<string, string> = {}) => fetch(endpoint.url, { method, headers });

  it.each(METHODS)("bar#RS-1 %s without a valid token is answered like POST", async (method) => {
    for (const headers of [{}, { authorization: "Bearer mallory" }] as Record<string, string>[]) {
      const [asked, posted] = [await ask(method, headers), await post(headers)];
      expect(asked.status).toBe(401);
      for (const name of ["www-authenticate", "cache-control", "content-type"]) {
        expect(asked.headers.get(name)).toBe(posted.headers.get(name));
      }
      expect(await asked.text()).toBe(method === "HEAD" ? "" : await posted.text());
    }
    expect((await ask(method, { authorization: "Bearer outage" })).status).toBe(503);
  });

  it.each(METHODS)("%s with a good token is 405: there are no sessions", async (method) => {
    const answer = await ask(method, { authorization: "Bearer alice" });
    expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST"]);
    expect((await answer.text()) === "").toBe(method === "HEAD");
  });
});

describe.each(ERAS)("a stock client, %s", (era) => {
  it("bar#RS-6 lists and calls tools as the caller of each request", async () => {
    const [alice, writer] = await Promise.all([endpoint.connect("alice", era), endpoint.connect("writer", era)]);
    expect((await alice.listTools()).tools.map(({ name }) => name)).toEqual(NAMES);
    const [first, second] = await Promise.all(
      [alice, writer].map((client) => client.callTool({ name: "who", arguments: {} })),
    );
    expect([first?.content, second?.content]).toEqual([
      [{ type: "text", text: "alice" }],
      [{ type: "text", text: "writer" }],
    ]);
  });

  it("gets progress notifications", async () => {
    const client = await endpoint.connect("alice", era);
    const heard: unknown[] = [];
    const result = await client.callTool(
      { name: "spell", arguments: { word: "abc" } },
      { onprogress: (progress) => void heard.push(progress.message) },
    );
    expect(heard).toEqual(["a", "b", "c"]);
    expect(result.content).toEqual([{ type: "text", text: JSON.stringify({ letters: 3 }, undefined, 2) }]);
  });

  it("gets the message of a ToolError, and of a bug only a reference", async () => {
    const client = await endpoint.connect("alice", era);
    const failed = await client.callTool({ name: "fail", arguments: { how: "error" } });
    expect(failed).toMatchObject({ isError: true, content: [{ text: "The list is empty" }] });
    const bug = await client.callTool({ name: "fail", arguments: { how: "bug" } });
    expect(bug).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^The tool failed\. .* [0-9a-f-]{36}$/) }],
    });
    const refused = await client.callTool({ name: "spell", arguments: { word: "" } }).catch((error: Error) => error);
    expect(JSON.stringify(refused)).not.toContain(CANARY);
  });
});

describe("what an author configures with the SDK", () => {
  it.each(ERAS)("is announced as lists that do not change, %s", async (era) => {
    const client = await endpoint.connect("alice", era);
    const unchanging = { listChanged: false };
    expect(client.getServerCapabilities()).toEqual({ tools: unchanging, prompts: unchanging, resources: unchanging });
  });

  it.each([
    ["ours", 200],
    ["forged", -32602],
  ])("has the state of an earlier round verified: %s", async (requestState, outcome) => {
    const version = "2026-07-28";
    const prefix = "io.modelcontextprotocol";
    const meta = { [`${prefix}/protocolVersion`]: version, [`${prefix}/clientCapabilities`]: {} };
    const params = { name: "ask", requestState, _meta: meta };
    const headers = { "mcp-protocol-version": version, "mcp-method": "prompts/get", "mcp-name": "ask" };
    const answer = await endpoint.send({ id: 1, method: "prompts/get", params }, { headers });
    const { error } = (await answer.json()) as { readonly error?: { readonly code: number } };
    expect(error?.code ?? answer.status).toBe(outcome);
  });
});

const call = (token: string, name: string) =>
  endpoint.send({ id: 1, method: "tools/call", params: { name, arguments: {} } }, { token });

it("bar#RS-3 answers 403 with every scope the call needs, in one challenge", async () => {
  const answer = await call("alice", "write");
  expect(answer.status).toBe(403);
  const challenge = answer.headers.get("www-authenticate") ?? "";
  expect(challenge).toContain('error="insufficient_scope"');
  expect(challenge).toContain('scope="api:read api:write"');
  expect(challenge).toContain(METADATA);
  for (const token of ["writer", "unsaid"]) expect((await call(token, "write")).status).toBe(200);
});

describe("the only vendor", () => {
  it("may be named, and the call then needs the scopes named with it", async () => {
    const answer = await call("alice", "named");
    expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([
      403,
      expect.stringContaining('scope="api:write"'),
    ]);
    expect(await (await call("writer", "named")).text()).toContain('"example true"');
  });

  it("need not be named: `vendors` is then empty", async () => {
    expect(await (await call("alice", "unnamed")).text()).toContain('"example 0"');
  });

  it("that wants a further scope is reported to the model", async () => {
    const text = await (await call("alice", "needs")).text();
    expect(text).toContain("example does not permit this without the scope api:more");
    expect(text).toContain('"isError":true');
  });
});

it("bar#TS-17 writes no token into the log", () => {
  expect(endpoint.lines.join("")).toContain('"event":"tool_call"');
  expect(endpoint.lines.join("")).not.toContain(CANARY);
  expect(endpoint.lines.join("")).not.toContain("Bearer");
});
