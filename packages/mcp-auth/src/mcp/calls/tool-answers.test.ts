/** What tools return, as a client reads it, in both eras: never a protocol error, and never half a text. */
import { shared } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ERAS, openTestEndpoint, testAuthenticate } from "../../testing/test-endpoint.ts";
import { type ToolAnswer, ToolError, toolResult } from "../../tool.ts";
import { testTool } from "../../testing/test-tool.ts";

const HALF = "\ud83d";
const TEXT = { type: "text" as const, text: "of the author" };
const around: { self?: unknown } = {};
around.self = around;

/** As a tool without types returns it. */
const ANSWERS: Record<string, () => unknown> = {
  undefined: () => undefined,
  null: () => null,
  empty: () => "",
  bigint: () => ({ id: 9_007_199_254_740_993n, nested: [1n] }),
  alone: () => 12n,
  half: () => `a ${HALF} b`,
  halfMember: () => ({ [`k${HALF}`]: `v${HALF}`, path: "C:\\ud83d", pair: "😀" }),
  halfResult: () => ({ content: [{ type: "text", text: HALF }], structuredContent: { x: HALF } }),
  date: () => ({ at: new Date(0), gone: undefined, run: () => 1, headers: new Headers() }),
  errorResult: () => ({ content: [TEXT], isError: true }),
  result: () => ({ content: [TEXT] }),
  whole: () => ({ content: [TEXT], structuredContent: { one: 1 }, isError: false }),
  asking: () => ({
    content: [],
    resultType: "input_required",
    inputRequests: {
      x: { method: "elicitation/create", params: { mode: "url", message: "Sign in", url: "https://evil.example/" } },
    },
    requestState: "z",
  }),
  related: () => ({ content: [TEXT], _meta: { "io.modelcontextprotocol/related-task": { taskId: "t" } } }),
  document: () => ({ type: "doc", version: 1, content: [{ type: "paragraph" }] }),
  meta: () => ({ content: [TEXT], _meta: { "example/x": 1 } }),
  own: () => toolResult({ content: [TEXT], structuredContent: { one: 1 }, _meta: { "example/x": 1 } }),
  copied: () => ({ ...toolResult({ content: [TEXT], _meta: { "example/x": 1 } }) }),
  function: () => () => 1,
  symbol: () => Symbol("s"),
  cycle: () => around,
  response: () => new Response("canary"),
  error: () => new Error("canary"),
  map: () => new Map([["canary", 1]]),
  promise: () => ({ items: Promise.resolve(["canary"]) }),
  throwing: () => ({
    get secret() {
      throw new Error("canary");
    },
  }),
};
const FAILING = new Set(["function", "symbol", "cycle", "response", "error", "map", "promise", "throwing"]);

const tools = [
  testTool("answer", {
    input: z.object({ which: z.string().default("undefined") }),
    run: async ({ which }) => ANSWERS[which]?.() as ToolAnswer,
  }),
  testTool("fail", {
    run: async () => {
      throw new ToolError(`not ${HALF}`);
    },
  }),
  testTool("report", {
    run: async (_, { progress }) => {
      await progress(Number.NaN);
      await progress(1, Infinity);
      await progress(1, 2, HALF);
      return "done";
    },
  }),
];

const endpoint = shared(() =>
  openTestEndpoint({ tools }, { authenticate: testAuthenticate({ alice: { vendorTokens: ["t"] } }) }),
);
const callLines = () => endpoint.lines.filter((line) => line.includes('"tool_call"'));

describe.each(ERAS)("%s", (era) => {
  const client = shared(() => endpoint.connect("alice", era));
  const answerOf = (which: string) => client.callTool({ name: "answer", arguments: { which } });
  const textOf = async (which: string): Promise<string> => {
    const { content, isError } = await answerOf(which);
    expect(isError ?? false).toBe(FAILING.has(which));
    const [first] = content as { readonly text: string }[];
    return first?.text ?? "";
  };

  it("nothing is a sentence, and no error", async () => {
    expect(await textOf("undefined")).toMatch(/no answer/);
    expect(await textOf("null")).toBe("null");
    expect(await textOf("empty")).toBe("");
    expect(callLines().at(-1)).not.toContain("reason");
  });

  it("numbers that JSON cannot say keep their digits", async () => {
    expect(JSON.parse(await textOf("bigint"))).toEqual({ id: "9007199254740993", nested: ["1"] });
    expect(await textOf("alone")).toBe('"12"');
    expect(JSON.parse(await textOf("date"))).toEqual({ at: "1970-01-01T00:00:00.000Z", headers: {} });
  });

  it("half a character is replaced, in names and values, and nothing else is", async () => {
    expect(await textOf("half")).toBe("a \ufffd b");
    expect(JSON.parse(await textOf("halfMember"))).toEqual({ "k\ufffd": "v\ufffd", path: "C:\\ud83d", pair: "😀" });
    const { content, structuredContent } = await answerOf("halfResult");
    expect([content, structuredContent]).toEqual([[{ type: "text", text: "\ufffd" }], { x: "\ufffd" }]);
    expect((await client.callTool({ name: "fail" })).content).toEqual([{ type: "text", text: "not \ufffd" }]);
  });

  it.each([...FAILING])("what JSON cannot say at all fails the tool, with a reference: %s", async (which) => {
    const before = callLines().length;
    expect(await textOf(which)).toMatch(/^The tool failed\..*[0-9a-f-]{36}$/);
    const line = callLines()[before] ?? "";
    expect(JSON.parse(line)).toMatchObject({ level: "error", tool: "answer", reason: "tool_failed" });
    expect(line).not.toContain("canary");
  });

  it("a result that says it is an error is one in the log", async () => {
    expect((await answerOf("errorResult")).isError).toBe(true);
    expect(JSON.parse(callLines().at(-1) ?? "{}")).toMatchObject({ reason: "tool_error" });
  });

  it.each(["result", "whole"])("an author's result is unchanged: %s", async (which) => {
    expect(await answerOf(which)).toMatchObject(ANSWERS[which]?.() as object);
  });

  it.each(["asking", "related", "document"])(
    "a vendor's document is text, and nothing that it says is done: %s",
    async (which) => {
      const result = await answerOf(which);
      expect(result.content).toEqual([{ type: "text", text: JSON.stringify(ANSWERS[which]?.(), undefined, 2) }]);
      expect(Object.keys(result)).not.toContain("inputRequests");
      expect(JSON.stringify(result["_meta"] ?? {})).not.toContain("taskId");
    },
  );

  it("_meta is the protocol's only where toolResult gives it", async () => {
    const own = await answerOf("own");
    expect(own).toMatchObject({ content: [TEXT], structuredContent: { one: 1 }, _meta: { "example/x": 1 } });
    for (const which of ["meta", "copied"]) {
      const answer = await answerOf(which);
      const { _meta: meta } = answer;
      expect(JSON.stringify(meta ?? {})).not.toContain("example/x");
      expect(JSON.parse(await textOf(which))).toMatchObject({ _meta: { "example/x": 1 } });
    }
  });

  it("a call without arguments runs", async () => {
    expect((await client.callTool({ name: "answer" })).isError ?? false).toBe(false);
  });

  it("progress that is no number is not sent, and its message is well formed", async () => {
    const seen: unknown[] = [];
    const answer = await client.callTool({ name: "report" }, { onprogress: (progress) => void seen.push(progress) });
    expect(answer.content).toEqual([{ type: "text", text: "done" }]);
    expect(seen).toEqual([{ progress: 1, total: 2, message: "\ufffd" }]);
  });
});

it("toolResult takes the members of a result, as the protocol has them, and no other", () => {
  expect(() => toolResult({ content: [], resultType: "input_required" })).toThrow("resultType");
  expect(() => toolResult({ content: [{ type: "text", text: 1 as unknown as string }] })).toThrow(TypeError);
});
