import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { createLog } from "@oauth-broker/service";
import { describe, expect, it, onTestFinished } from "vitest";
import { loadSettings } from "../config.ts";
import { startServer } from "../start.ts";
import { HOSTED, PRE_REGISTERED } from "../testing/environments.ts";
import { openTestApp } from "../testing/test-app.ts";
import { createServerMetrics, type ServerMetrics } from "./metrics.ts";
import { testTool } from "../testing/test-tool.ts";

const CANARY = "user-7f3a@example.com";
const post = testTool("post", { run: async () => "ok" });
const definition = { name: "test", version: "1.0.0", tools: [post] };
const settings = loadSettings(PRE_REGISTERED);
const vendor = settings.vendor.vendor.id;
const quiet = createLog({ write: () => undefined });

const linesOf = async (metrics: Pick<ServerMetrics, "render">): Promise<string[]> =>
  (await metrics.render()).body.split("\n").filter((line) => line !== "" && !line.startsWith("#"));

async function takenPort(): Promise<number> {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  onTestFinished(() => void taken.close());
  return (taken.address() as AddressInfo).port;
}

describe("the metrics of a deployed server", () => {
  it("name their own variable where their port is in use", async () => {
    const metricsPort = await takenPort();
    const own = { ...settings, listen: { host: "127.0.0.1", port: 0 }, metricsPort };
    await expect(startServer(definition, own, { log: quiet })).rejects.toMatchObject({
      message: `Port ${metricsPort} is in use. Stop what uses it, or choose another: METRICS_PORT=9465.`,
      code: "EADDRINUSE",
    });
  });

  it("bar#OB-1 count calls, questions, refreshes, vendors' answers, storage and keys", async () => {
    const metrics = createServerMetrics(definition, settings);
    const lines: string[] = [];
    const log = metrics.countCalls(createLog({ write: (line) => void lines.push(line) }));
    log.info("tool_call", { tool: "post", vendor });
    log.error("tool_call", { tool: "post", vendor, reason: "tool_failed" });
    log.info("tool_call", { tool: "post" });
    log.info("link_asked", { tool: "post", vendor, mode: "result" });
    log.info("listening", { vendor });
    const storageLog = metrics.countStorageEvents(quiet);
    storageLog.warn("refresh_unsaved", { vendor });
    storageLog.info("journal_waiting", { count: 0 });
    metrics.countVendorCall(vendor, "refresh", "temporarily_unavailable");
    metrics.countApiAnswer(vendor, 503);
    metrics.countApiAnswer(vendor, undefined);
    metrics.timeStorage({ part: "tokens", operation: "get", seconds: 0.004, outcome: "ok" });
    metrics.timeStorage({ part: "keys", operation: "unwrap", seconds: 0.04, outcome: "failed" });
    expect(await linesOf(metrics)).toEqual(
      expect.arrayContaining([
        `mcp_tool_calls_total{tool="post",vendor="${vendor}",outcome="ok"} 1`,
        `mcp_tool_calls_total{tool="post",vendor="${vendor}",outcome="tool_failed"} 1`,
        'mcp_tool_calls_total{tool="post",vendor="none",outcome="ok"} 1',
        `mcp_elicitations_total{vendor="${vendor}",mode="result"} 1`,
        `mcp_storage_events_total{vendor="${vendor}",event="refresh_unsaved"} 1`,
        `mcp_vendor_calls_total{vendor="${vendor}",operation="refresh",outcome="temporarily_unavailable"} 1`,
        `mcp_vendor_api_answers_total{vendor="${vendor}",status="5xx"} 1`,
        `mcp_vendor_api_answers_total{vendor="${vendor}",status="none"} 1`,
        'mcp_store_duration_seconds_bucket{le="0.005",store="tokens",operation="get",outcome="ok"} 1',
        'mcp_key_duration_seconds_count{operation="unwrap",outcome="failed"} 1',
      ]),
    );
    expect(await linesOf(metrics).then((all) => all.join("\n"))).not.toContain("journal_waiting");
    log.flush();
    expect(lines).toHaveLength(5);
  });

  it("bar#OB-2 have no label of what users, clients, tools or vendors send", async () => {
    const metrics = createServerMetrics(definition, settings);
    const log = metrics.countCalls(quiet);
    log.info("tool_call", { tool: CANARY, vendor: `${vendor},${CANARY}`, clientId: CANARY, reason: CANARY });
    log.info("link_asked", { tool: CANARY, vendor: CANARY, clientId: CANARY, mode: CANARY });
    metrics.countStorageEvents(quiet).warn(CANARY, { vendor: CANARY });
    metrics.countApiAnswer(CANARY, 200);
    const text = (await linesOf(metrics)).join("\n");
    expect(text).not.toContain("user-7f3a");
    expect(text).toContain('mcp_tool_calls_total{tool="other",vendor="other",outcome="other"} 1');
  });
});

describe("METRICS_PORT", () => {
  const start = async (environment: Readonly<Record<string, string>>) => {
    const server = await startServer(definition, loadSettings({ ...PRE_REGISTERED, PORT: "0", ...environment }), {
      log: quiet,
    });
    onTestFinished(() => server.stop());
    return server;
  };

  it("serves them on a port of its own, on loopback and under its own name only", async () => {
    const { url, metricsUrl = "" } = await start({ METRICS_PORT: "0" });
    expect(metricsUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
    expect((await fetch(`${url}/mcp`, { method: "POST", body: "{}" })).status).toBe(401);
    const scraped = await fetch(metricsUrl);
    expect(scraped.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
    const text = await scraped.text();
    expect(text).toContain('http_requests_total{route="/mcp",method="POST",status="401"} 1');
    expect(text).toContain("nodejs_eventloop_lag_p99_seconds");
    expect((await fetch(`${url}/metrics`)).status).toBe(404);
    expect((await fetch(metricsUrl.replace("/metrics", "/mcp"), { method: "POST", body: "{}" })).status).toBe(404);
    expect((await fetch(metricsUrl, { headers: { origin: "https://page.example" } })).status).toBe(403);
  });

  it("is off unless it is set, and a port that is taken ends the start", async () => {
    expect((await start({})).metricsUrl).toBeUndefined();
    const { metricsUrl = "" } = await start({ METRICS_PORT: "0" });
    await expect(start({ METRICS_PORT: new URL(metricsUrl).port })).rejects.toMatchObject({ code: "EADDRINUSE" });
  });
});

it("a hosted server's requests, storage and keys are measured", async () => {
  const metrics = createServerMetrics(definition, loadSettings(HOSTED));
  await using app = await openTestApp(HOSTED, { metrics });
  expect((await app.ask("/readyz")).status).toBe(200);
  expect((await app.ask("/authorize")).status).toBe(400);
  const text = (await linesOf(metrics)).join("\n");
  expect(text).toContain('http_requests_total{route="/readyz",method="GET",status="200"} 1');
  expect(text).toMatch(/mcp_refusals_total\{leg="authorize",reason="[a-z_]+"\} 1/);
  expect(text).toMatch(/mcp_store_duration_seconds_count\{store="records",operation="ping",outcome="ok"\} 1/);
  expect(text).toMatch(/mcp_store_duration_seconds_count\{store="tokens",operation="ping",outcome="ok"\} 1/);
  expect(text).toMatch(/mcp_key_duration_seconds_count\{operation="newDataKey",outcome="ok"\} \d/);
});
