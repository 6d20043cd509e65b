/** A call that its client cancels, in both eras: the tool's signal fires, for that call alone, and never late. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { ResolvedVendor } from "@oauth-broker/oauth-core/registry";
import { createLog, errorPageWith, listen, type Listening, mount } from "@oauth-broker/oauth-core/service";
import { Hono } from "hono";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { testGate } from "../../testing/test-caller.ts";
import { defineTool } from "../../tool.ts";
import { createMcpEndpoint, type McpEndpoint } from "../endpoint.ts";
import { createRunningCalls } from "./running-calls.ts";

/** What became of the calls of `wait`, by their word. */
const started = new Set<string>();
const fired = new Set<string>();
const signals = new Map<string, AbortSignal>();
const tools = [
  defineTool({
    name: "wait",
    description: "w",
    input: z.object({ word: z.string() }),
    run: async ({ word }, { signal }) => {
      started.add(word);
      signals.set(word, signal);
      await new Promise<void>((resolve, reject) => {
        signal.addEventListener("abort", () => {
          fired.add(word);
          reject(signal.reason as Error);
        });
        release.set(word, resolve);
      });
      return word;
    },
  }),
];
const release = new Map<string, () => void>();

let server: Listening;
let endpoint: McpEndpoint;
const lines: string[] = [];
beforeAll(async () => {
  const log = createLog({ write: (line) => void lines.push(line) });
  endpoint = createMcpEndpoint(
    { name: "test", version: "1.0.0", tools },
    {
      gate: testGate({ alice: { vendorTokens: ["a"] }, bob: { vendorTokens: ["b"] } }),
      addressOf: () => "203.0.113.9",
      resourceMetadata: undefined,
      scope: "",
      vendor: async () => ({ authorizationEndpoint: "x", tokenEndpoint: "x" }) as ResolvedVendor,
      names: { id: "example", name: "Example" },
      apiHosts: [],
      allowLoopback: false,
      fetch: async () => new Response(),
      vendorClient: { account: async () => ({}) },
      log,
    },
  );
  const app = new Hono();
  mount(app, [endpoint.route], { log, errorPage: errorPageWith(), isHttps: true });
  server = await listen(app, { host: "127.0.0.1", port: 0 });
});
beforeEach(() => {
  for (const one of [started, fired, release, signals]) one.clear();
});
afterAll(async () => {
  await endpoint.close();
  await server.stop(0);
});

const url = () => new URL(`http://127.0.0.1:${server.port}/mcp`);
const post = (body: object, headers: Readonly<Record<string, string>> = {}, signal?: AbortSignal) =>
  fetch(url(), {
    method: "POST",
    headers: {
      authorization: "Bearer alice",
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2025-11-25",
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: "2.0", ...body }),
    ...(signal === undefined ? {} : { signal }),
  });
const call = (word: string, id: number | string, headers?: Readonly<Record<string, string>>) =>
  post({ id, method: "tools/call", params: { name: "wait", arguments: { word } } }, headers).then((answer) =>
    answer.text(),
  );
const cancel = async (requestId: number | string, headers?: Readonly<Record<string, string>>): Promise<void> => {
  const answer = await post({ method: "notifications/cancelled", params: { requestId, reason: "no" } }, headers);
  expect(answer.status).toBe(202);
};
const running = async (...words: string[]): Promise<void> => {
  await expect.poll(() => [...started].toSorted(), { timeout: 20_000 }).toEqual(words);
};
/** Watched from now on: it fails while the test does something else. */
const failureOf = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);

describe.each(["auto", "legacy"] as const)("a stock client, %s", (mode) => {
  it("that cancels fires the tool's signal", async () => {
    const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
    const requestInit = { headers: { authorization: "Bearer alice" } };
    await client.connect(new StreamableHTTPClientTransport(url(), { requestInit }));
    const cancelling = new AbortController();
    const calling = client.callTool({ name: "wait", arguments: { word: "one" } }, { signal: cancelling.signal });
    const ended = failureOf(calling);
    await running("one");
    cancelling.abort();
    expect(await ended).toBeInstanceOf(Error);
    await expect.poll(() => [...fired], { timeout: 20_000 }).toEqual(["one"]);
    await expect.poll(() => lines.join(""), { timeout: 20_000 }).toContain('"reason":"call_cancelled"');
    await client.close();
  });

  it("whose call has succeeded never sees it fire", async () => {
    const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
    const requestInit = { headers: { authorization: "Bearer alice" } };
    await client.connect(new StreamableHTTPClientTransport(url(), { requestInit }));
    const calling = client.callTool({ name: "wait", arguments: { word: "one" } });
    await running("one");
    release.get("one")?.();
    await calling;
    await client.close();
    // The connection has ended, and another request has been served since.
    await post({ id: 9, method: "ping" });
    expect([signals.get("one")?.aborted, fired.size]).toEqual([false, 0]);
  });
});

describe("a client of 2025 that cancels by the id of its request", () => {
  it("ends that call, and no other of its own", async () => {
    const [one, two] = [call("one", 1), call("two", 2)];
    await running("one", "two");
    await cancel(1);
    expect(await one).toContain("The call was cancelled");
    release.get("two")?.();
    expect(await two).toContain("two");
    expect([...fired]).toEqual(["one"]);
  });

  it.each<[what: string, id: number | string, headers: Readonly<Record<string, string>>]>([
    ["of another token", 1, { authorization: "Bearer bob" }],
    ["of another session", 1, { "mcp-session-id": "another" }],
    ["with the id as a text", "1", {}],
    ["with an id that no call has", 7, {}],
  ])("ends no call %s", async (_what, id, headers) => {
    const one = call("one", 1);
    await running("one");
    await cancel(id, headers);
    release.get("one")?.();
    expect(await one).toContain('"one"');
    expect(fired.size).toBe(0);
  });

  it("ends none of two that could be meant", async () => {
    const both = [call("one", 1), call("two", 1)];
    await running("one", "two");
    await cancel(1);
    for (const word of ["one", "two"]) release.get(word)?.();
    await Promise.all(both);
    expect(fired.size).toBe(0);
  });
});

it("a client of 2025 that disconnects fires it too", async () => {
  const leaving = new AbortController();
  const params = { name: "wait", arguments: { word: "one" } };
  const calling = post({ id: 1, method: "tools/call", params }, {}, leaving.signal).then((answer) => answer.text());
  const ended = failureOf(calling);
  await running("one");
  leaving.abort();
  expect(await ended).toBeInstanceOf(Error);
  await expect.poll(() => [...fired], { timeout: 20_000 }).toEqual(["one"]);
});

it("when the server stops, the calls that still run are told, and those that ended are not", async () => {
  const calls = createRunningCalls();
  const request = new AbortController().signal;
  const seen: AbortSignal[] = [];
  await calls.run({ from: "a", id: 1, request }, async (signal) => void seen.push(signal));
  const waiting = calls.run({ from: "a", id: 2, request }, (signal) => {
    seen.push(signal);
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
  });
  const ended = failureOf(waiting);
  await calls.cut();
  expect(await ended).toMatchObject({ name: "AbortError", message: expect.stringContaining("the server ends") });
  expect(seen.map(({ aborted }) => aborted)).toEqual([false, true]);
});
