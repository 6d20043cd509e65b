/** What the SDK answers to a body is the same where this server reads the body first. */
import { request as httpRequest } from "node:http";
import { shared } from "@oauth-broker/oauth-core/testing";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { openLinkedCalls, WAIT_SECONDS } from "../../testing/linking/linked-calls.ts";
import { legacyCall, modernCall, rawRequest } from "../../testing/linking/raw-calls.ts";
import { testTool } from "../../testing/test-tool.ts";

const tools = [
  testTool("post", {
    input: z.object({ text: z.string().optional() }),
    vendor: "slack",
    scopes: ["chat:write"],
  }),
];
const calls = shared(() => openLinkedCalls(tools));

describe("a body", () => {
  it.each([
    ["of another type", 415, { "content-type": "text/plain" }, "{}"],
    ["that is not JSON", 400, {}, "{"],
    ["that is empty", 400, {}, ""],
    ["that is no message", 400, {}, "[]"],
    ["that is no object", 400, {}, "7"],
    ["that is null", 400, {}, "null"],
    ["that is a batch of nothing known", 400, {}, "[null]"],
  ])("%s is %i", async (_, status, headers, body) => {
    const answer = await calls.send("alice.desk", body, headers);
    expect([answer.status, answer.body.jsonrpc, typeof answer.body.error.code]).toEqual([status, "2.0", "number"]);
  });

  it("rfc9110#8.4 in a content coding is 415", async () => {
    expect((await calls.send("alice.desk", "{}", { "content-encoding": "gzip" })).status).toBe(415);
  });

  it.each([
    ["declared", { "content-length": String(17 * 64 * 1024) }],
    ["undeclared", {}],
  ])("over 1 MiB is 413, its length %s", async (_, length) => {
    const chunk = Buffer.alloc(64 * 1024, " ");
    const status = await new Promise((resolve, reject) => {
      const { method, headers } = rawRequest("alice.desk", "", length);
      const sending = httpRequest(calls.url, { method, headers }, (answer) => {
        resolve(answer.statusCode);
        answer.resume();
        sending.destroy();
      });
      // The server need not read the rest.
      sending.on("error", (error: NodeJS.ErrnoException) => error.code !== "EPIPE" && reject(error));
      for (let index = 0; index < 17; index += 1) sending.write(chunk);
      sending.end();
    });
    expect(status).toBe(413);
  });
});

describe("a retry that waits", () => {
  const start = async (): Promise<string> => {
    const { body } = await calls.send("alice.desk", ...modernCall("post"));
    return body.result.requestState as string;
  };

  it("asks with the same URL after ELICITATION_WAIT_SECONDS, and not before", async () => {
    const requestState = await start();
    const before = calls.clock();
    const { body } = await calls.send("alice.desk", ...modernCall("post", { requestState }));
    expect(calls.clock() - before).toBe(WAIT_SECONDS);
    expect(body.result.inputRequests.slack.params.url).toBe(calls.tickets.at(-1)?.url);
    expect(calls.tickets).toHaveLength(1);
  });

  it("waits also while the browser is at the vendor", async () => {
    const requestState = await start();
    calls.onPause = () => {
      const [ticket] = calls.tickets;
      if (ticket === undefined) return;
      if (ticket.state === "open") ticket.state = "approved";
      else calls.link(ticket);
    };
    const { body } = await calls.send("alice.desk", ...modernCall("post", { requestState }));
    expect(body.result.content[0].text).toBe("ran");
    calls.setLink("alice", "slack", "missing");
    calls.tickets.length = 0;
  });

  it("ends with the connection of a client that left, and asks nothing", async () => {
    const requestState = await start();
    const controller = new AbortController();
    const ended = new Promise<void>((resolve) => {
      calls.onPause = async (_, signal) => {
        controller.abort();
        await new Promise<void>((fired) => signal.addEventListener("abort", () => fired(), { once: true }));
        calls.onPause = () => expect.unreachable("the call waits on");
        resolve();
      };
    });
    const request = rawRequest("alice.desk", ...modernCall("post", { requestState }));
    const sending = fetch(calls.url, { ...request, signal: controller.signal });
    await expect(sending).rejects.toThrow(/aborted/);
    await ended;
    await expect.poll(() => calls.lines.join("")).toContain('"reason":"call_cancelled"');
    expect(calls.tickets).toHaveLength(1);
  });

  it("is answered with the same URL when the process stops", async () => {
    await using own = await openLinkedCalls(tools);
    const { body: first } = await own.send("alice.desk", ...modernCall("post"));
    own.onPause = () => own.stop();
    const before = own.clock();
    const { requestState } = first.result;
    const { body } = await own.send("alice.desk", ...modernCall("post", { requestState }));
    expect(own.clock() - before).toBe(1);
    expect(body.result.inputRequests.slack.params.url).toBe(own.tickets[0]?.url);
  });

  it("does not wait beside five others of its user", async () => {
    const requestState = await start();
    const waiting: (() => void)[] = [];
    calls.onPause = () => new Promise<void>((resolve) => void waiting.push(resolve));
    const others = Array.from({ length: 5 }, () => calls.send("alice.desk", ...modernCall("post", { requestState })));
    await expect.poll(() => waiting.length).toBe(5);
    const before = calls.clock();
    const { body } = await calls.send("alice.desk", ...modernCall("post", { requestState }));
    expect([body.result.resultType, calls.clock() - before]).toEqual(["input_required", 0]);
    calls.onPause = () => undefined;
    calls.tickets.forEach(calls.link);
    for (const wake of waiting) wake();
    for (const { body: other } of await Promise.all(others)) expect(other.result.content[0].text).toBe("ran");
  });
});

it("a call of 2025-11-25 passes unchanged", async () => {
  expect((await calls.send("alice.desk", ...legacyCall("post", { arguments: { text: "x" } }))).text).toContain("ran");
  expect((await calls.send("alice.desk", ...legacyCall("post", { arguments: { text: 7 } }))).text).toContain("Invalid");
});
