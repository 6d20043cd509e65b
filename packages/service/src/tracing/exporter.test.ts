import { listen, soonerThan } from "@oauth-broker/oauth-core/testing";
import { createServer, type RequestListener } from "node:http";
import { trace } from "@opentelemetry/api";
import { afterEach, expect, it, vi } from "vitest";
import type { TracingSettings } from "../configuration/tracing.ts";
import { createLog } from "../log.ts";
import { inContext } from "../request-context.ts";
import type { Tracing } from "./exporter.ts";
import type * as Spans from "./spans.ts";
import { startTracing } from "./start.ts";

const SETTINGS: TracingSettings = { sampler: "parentbased_always_on", ratio: 1 };
/** As many as make the SDK send without waiting. */
const BATCH = 512;
const SECRET = "canary-of-the-collector";

let starts = 0;
let server: Awaited<ReturnType<typeof listen>> | undefined;
let tracing: Tracing | undefined;

afterEach(async () => {
  await tracing?.stop();
  trace.disable();
  await server?.close();
  vi.unstubAllEnvs();
});

/** With a copy of the module of spans: its tracer keeps the provider that it found first. */
async function start(
  answer: RequestListener,
  { isDown = false, sampler = SETTINGS.sampler }: { isDown?: boolean; sampler?: TracingSettings["sampler"] } = {},
) {
  server = await listen(createServer(answer));
  if (isDown) await server.close();
  vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", `http://127.0.0.1:${server.port}`);
  vi.stubEnv("OTEL_EXPORTER_OTLP_TIMEOUT", "300");
  const lines: string[] = [];
  const log = createLog({ write: (line) => void lines.push(line) });
  tracing = await startTracing({ ...SETTINGS, sampler }, "default", log);
  starts += 1;
  const spans = (await import(`./spans.ts?start=${starts}`)) as typeof Spans;
  const record = (count: number, traceparent?: string): void => {
    for (let made = 0; made < count; made += 1) {
      const { span, traceId } = spans.startRequestSpan("GET /", traceparent);
      inContext({ request: { traceId }, span }, () => spans.endSpan(span, {}, false));
    }
  };
  const warnings = (): Readonly<Record<string, unknown>>[] => lines.map((line) => JSON.parse(line) as never);
  const end = (facts: Spans.SpanFacts): void =>
    spans.endSpan(spans.startRequestSpan("GET /", undefined).span, facts, false);
  return { record, end, warnings };
}

const silent: RequestListener = () => undefined;
const refusing: RequestListener = (_, response) => void response.writeHead(401, SECRET).end(SECRET);

/** Takes everything. */
function collecting(): { readonly answer: RequestListener; readonly text: () => string; readonly spans: () => number } {
  let text = "";
  return {
    answer: (request, response) => {
      request.setEncoding("utf8").on("data", (part: string) => void (text += part));
      request.on("end", () => response.end("{}"));
    },
    text: () => text,
    spans: () => text.match(/"spanId"/g)?.length ?? 0,
  };
}

it.each([
  ["that is down", true, silent],
  ["that does not answer", false, silent],
  ["that refuses", false, refusing],
])("spans for a collector %s are lost with one warning, and the stop is not held up", async (_, isDown, answer) => {
  const { record, warnings } = await start(answer, { isDown });
  record(BATCH);
  await expect.poll(warnings).toMatchObject([{ level: "warn", event: "spans_lost", count: BATCH }]);
  record(BATCH * 10);
  await soonerThan(2_000, Promise.resolve(tracing?.stop()));
  expect(warnings()).toHaveLength(1);
  // The SDK's timer was started by a request, which is not the one that lost its spans.
  expect(warnings()[0]).not.toHaveProperty("trace_id");
  expect(JSON.stringify(warnings())).not.toContain(SECRET);
});

it("no more spans wait than the queue of the SDK holds", async () => {
  const { answer, spans } = collecting();
  const { record } = await start(answer);
  record(10_000);
  await tracing?.stop();
  expect(spans()).toBeGreaterThan(BATCH);
  expect(spans()).toBeLessThanOrEqual(2_048 + BATCH);
});

it("bar#OB-2 a span has no query of a URL and nothing long", async () => {
  const { answer, text } = collecting();
  const { end } = await start(answer);
  end({ "oauth_broker.client_id": `https://client.example/?key=${SECRET}`, long: "x".repeat(1_000) });
  await tracing?.stop();
  expect(text()).toContain("https://client.example/");
  expect(text()).not.toContain(SECRET);
  expect(text()).not.toContain("x".repeat(257));
});

const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";

it.each([
  ["parentbased_always_on", "01", 1],
  ["parentbased_always_on", "00", 0],
  ["parentbased_always_off", "01", 1],
  ["parentbased_traceidratio", "00", 0],
  ["always_on", "00", 1],
  ["always_off", "01", 0],
  ["traceidratio", "00", 1],
] as const)("%s with the caller's flags %s sends %i spans", async (sampler, flags, count) => {
  const { answer, spans, text } = collecting();
  const { record } = await start(answer, { sampler });
  record(1, `00-${TRACE_ID}-00f067aa0ba902b7-${flags}`);
  await tracing?.stop();
  expect(spans()).toBe(count);
  if (count > 0) expect(text()).toContain(TRACE_ID);
});
