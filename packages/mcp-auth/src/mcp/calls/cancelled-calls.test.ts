/** A call that its client cancels, in both eras: the tool's signal fires, for that call alone, and never late. */
import { shared } from "@oauth-broker/oauth-core/testing";
import { beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { ERAS, openTestEndpoint, type SendOptions, testAuthenticate } from "../../testing/test-endpoint.ts";
import { createRunningCalls } from "./running-calls.ts";
import { testTool } from "../../testing/test-tool.ts";

/** What became of the calls of `wait`, by their word. */
const started = new Set<string>();
const fired = new Set<string>();
const signals = new Map<string, AbortSignal>();
const tools = [
  testTool("wait", {
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

const authenticate = testAuthenticate({ alice: { vendorTokens: ["a"] }, bob: { vendorTokens: ["b"] } });
const endpoint = shared(() => openTestEndpoint({ tools }, { authenticate }));
beforeEach(() => {
  for (const one of [started, fired, release, signals]) one.clear();
});

const call = async (word: string, id: number | string, options?: SendOptions): Promise<string> => {
  const params = { name: "wait", arguments: { word } };
  return (await endpoint.send({ id, method: "tools/call", params }, options)).text();
};
const cancel = async (requestId: number | string, options?: SendOptions): Promise<void> => {
  const params = { requestId, reason: "no" };
  expect((await endpoint.send({ method: "notifications/cancelled", params }, options)).status).toBe(202);
};
const running = async (...words: string[]): Promise<void> => {
  await expect.poll(() => [...started].toSorted()).toEqual(words);
};
/** Watched from now on: it fails while the test does something else. */
const failureOf = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);

describe.each(ERAS)("a stock client, %s", (era) => {
  it("that cancels fires the tool's signal", async () => {
    const client = await endpoint.connect("alice", era);
    const cancelling = new AbortController();
    const calling = client.callTool({ name: "wait", arguments: { word: "one" } }, { signal: cancelling.signal });
    const ended = failureOf(calling);
    await running("one");
    cancelling.abort();
    expect(await ended).toBeInstanceOf(Error);
    await expect.poll(() => [...fired]).toEqual(["one"]);
    await expect.poll(() => endpoint.lines.join("")).toContain('"reason":"call_cancelled"');
  });

  it("whose call has succeeded never sees it fire", async () => {
    const client = await endpoint.connect("alice", era);
    const calling = client.callTool({ name: "wait", arguments: { word: "one" } });
    await running("one");
    release.get("one")?.();
    await calling;
    await client.close();
    // The connection has ended, and another request has been served since.
    await endpoint.send({ id: 9, method: "ping" });
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

  it.each<[what: string, id: number | string, options: SendOptions]>([
    ["of another token", 1, { token: "bob" }],
    ["of another session", 1, { headers: { "mcp-session-id": "another" } }],
    ["with the id as a text", "1", {}],
    ["with an id that no call has", 7, {}],
  ])("ends no call %s", async (_what, id, options) => {
    const one = call("one", 1);
    await running("one");
    await cancel(id, options);
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
  const calling = call("one", 1, { signal: leaving.signal });
  const ended = failureOf(calling);
  await running("one");
  leaving.abort();
  expect(await ended).toBeInstanceOf(Error);
  await expect.poll(() => [...fired]).toEqual(["one"]);
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
