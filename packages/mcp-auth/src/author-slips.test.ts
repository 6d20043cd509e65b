/**
 * An author's slip in one tool is no outage for everyone: the process goes on, the log names the
 * tool and never the message, and the author sees the message under `npm run dev`.
 */
import { patience, shared } from "@oauth-broker/oauth-core/testing";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import {
  httpAnswer,
  type LoopbackServer,
  startLoopbackServer,
} from "../../oauth-core/src/testing/network/loopback-server.ts";
import { createLog } from "@oauth-broker/service";
import { loadSettings, UNDER_DEV } from "./config.ts";
import { startServer } from "./start.ts";
import { legacyCall, rawRequest } from "./testing/linking/raw-calls.ts";
import { testTool } from "./testing/test-tool.ts";

const ACCOUNT = JSON.stringify({ sub: "alice" });
const vendor = shared(() =>
  startLoopbackServer((socket) => void socket.end(httpAnswer(ACCOUNT, { "content-type": "application/json" }))),
);

const environmentOf = ({ origin }: LoopbackServer) => ({
  OAUTH_MODE: "pre-registered",
  VENDOR: "mine",
  VENDOR_AUTHORIZATION_URL: `${origin}/authorize`,
  VENDOR_TOKEN_URL: `${origin}/token`,
  VENDOR_USERINFO_URL: `${origin}/userinfo`,
  EGRESS_ALLOW_LOOPBACK: "true",
  PORT: "0",
});

async function start(environment: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, [join(import.meta.dirname, "testing", "slips-server.ts")], {
    env: {
      PATH: process.env["PATH"],
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
      ...environmentOf(vendor),
      ...environment,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const lines: Record<string, unknown>[] = [];
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => void (stderr += chunk.toString()));
  createInterface({ input: child.stdout }).on(
    "line",
    (line) => void lines.push(JSON.parse(line) as Record<string, unknown>),
  );
  const exited = once(child, "exit") as Promise<[number | null]>;
  const listening = await vi.waitUntil(() => lines.find(({ event }) => event === "listening"), patience(6_000));
  const url = String(listening["url"]);
  const call = async (name: string): Promise<string> => {
    const answer = await fetch(`${url}/mcp`, callOf(name));
    return answer.text();
  };
  const lineOf = async (event: string, tool?: string): Promise<Record<string, unknown>> => {
    const found = (): Record<string, unknown> | undefined =>
      lines.find((line) => line["event"] === event && (tool === undefined || line["tool"] === tool));
    await expect.poll(found).toBeDefined();
    return found() ?? {};
  };
  return {
    url,
    call,
    lineOf,
    lines,
    exited,
    stderr: () => stderr,
    rejectOutside: () => child.kill("SIGUSR2"),
    end: async () => {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

describe("a server, of whose author", () => {
  let server: Awaited<ReturnType<typeof start>>;
  beforeAll(async () => {
    server = await start({ METRICS_PORT: "0" });
  });
  afterAll(() => server.end());

  it("bar#OB-1 an unawaited promise is counted as a failure, beside the call that was answered", async () => {
    await server.call("floating");
    await server.lineOf("tool_rejection");
    const { metrics_url: metricsUrl } = await server.lineOf("metrics_listening");
    const text = await (await fetch(String(metricsUrl))).text();
    const counted = text.split("\n").filter((line) => line.startsWith("mcp_tool_calls_total{"));
    expect(counted.toSorted()).toEqual([
      'mcp_tool_calls_total{tool="floating",vendor="mine",outcome="ok"} 1',
      'mcp_tool_calls_total{tool="floating",vendor="none",outcome="tool_failed"} 1',
    ]);
  });

  it("an unawaited promise is a failure of its tool, and the process goes on", async () => {
    for (const name of ["floating", "later"]) {
      // oxlint-disable no-await-in-loop -- one process, one slip after the other
      for (let round = 0; round < 3; round += 1) expect(await server.call(name)).toContain("returned");
      const line = await server.lineOf("tool_rejection", name);
      expect(line).toMatchObject({ level: "error", reason: "tool_failed" });
      expect(line["trace_id"]).toMatch(/^[0-9a-f]{32}$/);
      // oxlint-enable no-await-in-loop
    }
    expect(await server.call("fine")).toContain("fine");
  });

  it("an unawaited promise of a prompt is no end of the process either", async () => {
    const [call, headers] = legacyCall("floating");
    const request = rawRequest("token", { ...call, method: "prompts/get" }, headers);
    const answer = await fetch(`${server.url}/mcp`, request);
    expect(await answer.text()).toContain('"messages":[]');
    expect(await server.lineOf("tool_rejection", "configure")).toMatchObject({ reason: "tool_failed" });
    expect(await server.call("fine")).toContain("fine");
  });

  it("printed text goes to stderr: each line of stdout is JSON", async () => {
    await server.call("fine");
    await expect.poll(server.stderr).toContain("printed by the tool\n");
    await server.lineOf("tool_call", "fine");
  });

  it("an error is a place in the log, under the reference that the model got", async () => {
    const [referenceId = ""] = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(await server.call("throwing")) ?? [];
    await expect.poll(() => server.lines.find((line) => line["reference_id"] === referenceId)).toBeDefined();
    expect(server.lines.find((line) => line["reference_id"] === referenceId)).toMatchObject({
      tool: "throwing",
      reason: "tool_failed",
      error_name: "TypeError",
      stack_top: expect.stringMatching(/^testing\/slips-server\.ts:\d+/),
    });
  });

  it("a timer that throws ends the process, and the log names the tool", async () => {
    expect(await server.call("timer")).toContain("returned");
    expect(await server.exited).toEqual([1, null]);
    expect(await server.lineOf("uncaught")).toMatchObject({ tool: "timer" });
    expect(JSON.stringify(server.lines)).not.toContain("message of");
    expect(server.stderr()).not.toContain("message of");
  });
});

describe("a server under npm run dev", () => {
  let server: Awaited<ReturnType<typeof start>>;
  beforeAll(async () => {
    server = await start({ [UNDER_DEV]: "true" });
  });
  afterAll(() => server.end());

  it("shows its author the errors, and the log and the model still have none of them", async () => {
    const answer = await server.call("throwing");
    await server.call("floating");
    await expect.poll(server.stderr).toContain("message of the floating promise");
    expect(server.stderr()).toMatch(
      /The tool throwing failed:\nTypeError: message of the tool\n {4}at .*slips-server\.ts:\d+/,
    );
    expect(answer + JSON.stringify(server.lines)).not.toContain("message of");
  });

  it("is ended by a promise outside of a tool, as before", async () => {
    server.rejectOutside();
    expect(await server.exited).toEqual([1, null]);
    expect(await server.lineOf("uncaught")).toMatchObject({ error_name: "Error" });
  });
});

it("a call that a stop cuts has its signal, and time to clean up", async () => {
  const settings = loadSettings(environmentOf(vendor));
  const seen: string[] = [];
  const wait = testTool("wait", {
    scopes: [],
    run: async (_, { signal }) => {
      seen.push("started");
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      await new Promise((resolve) => setImmediate(resolve));
      seen.push("cleaned up");
      return "too late";
    },
  });
  const running = await startServer({ name: "slow", version: "1.0.0", tools: [wait] }, settings, {
    log: createLog({ write: () => undefined }),
    timeouts: { drainMs: 1 },
  });
  const calling = fetch(`${running.url}/mcp`, callOf("wait")).catch((error: unknown) => error);
  await expect.poll(() => seen).toEqual(["started"]);
  await running.stop();
  expect(seen).toEqual(["started", "cleaned up"]);
  await calling;
});

function callOf(name: string): RequestInit {
  return rawRequest("token", ...legacyCall(name));
}
