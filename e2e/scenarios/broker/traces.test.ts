/**
 * Traces of whole flows, at a collector on loopback: the platform's trace goes on in the broker's
 * spans and log lines, a call to the vendor is a child of the request it was made for, and nothing
 * of it reaches the vendor. Without a collector the SDK is not loaded: ../broker-processes/start.test.ts.
 */
import { startScriptedVendor } from "@oauth-broker/simulators";
import { afterAll, expect, it } from "vitest";
import { startBrokerProcess } from "../../support/broker/process.ts";
import { startParties } from "../../support/broker/harness.ts";
import { freePort } from "../../support/free-port.ts";
import { callTool, connectClient } from "../../support/mcp/client.ts";
import { PLATFORM_CALLBACK, startMcpServer } from "../../support/mcp/process.ts";
import { startGitHubVendor } from "../../support/mcp/vendor.ts";
import { createPlatform, send } from "../../support/broker/platform.ts";
import { findSecrets, plantedCount, plantSecret } from "../../support/secrets.ts";
import { plantVendorSecrets } from "../../support/broker/vendor.ts";

const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT = "00f067aa0ba902b7";
const TRACEPARENT = `00-${TRACE_ID}-${PARENT}-01`;
const TRACESTATE = "platform=canary-of-the-tracestate";
const SERVER = 2;
const CLIENT = 3;

/** As in the request, its attributes as a plain object. */
interface ReceivedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** 2: an error. */
  readonly status: { readonly code?: number };
}

interface Attributed {
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
}
interface Sent {
  readonly resourceSpans: readonly {
    readonly resource: Attributed;
    readonly scopeSpans: readonly { readonly spans: readonly (Omit<ReceivedSpan, "attributes"> & Attributed)[] }[];
  }[];
}

const closing: (() => Promise<void>)[] = [];
afterAll(() => Promise.all(closing.map((close) => close())));

/** It takes spans by OTLP over HTTP, as JSON. */
async function openCollector() {
  const { url, received, close } = await startScriptedVendor({ "*": { body: {} } });
  closing.push(close);
  return {
    url,
    spans: () => received.flatMap(({ body }) => spansIn(JSON.parse(body) as Sent)),
    /** Bodies and headers. */
    text: () => received.map(({ headers, body }) => `${JSON.stringify(headers)}\n${body}`).join("\n"),
  };
}

function spansIn({ resourceSpans }: Sent): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans
      .flatMap(({ spans }) => spans)
      .map((span) => ({ ...span, attributes: { ...plain(resource), ...plain(span) } })),
  );
}

function plain({ attributes }: Attributed): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

interface Line {
  readonly event: string;
  readonly route?: string;
  readonly trace_id?: string;
}

function linesOf(stdout: string): Line[] {
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);
}

function named(spans: readonly ReceivedSpan[], name: string): ReceivedSpan {
  const found = spans.filter((span) => span.name === name);
  const [span] = found;
  if (span === undefined || found.length > 1) throw new Error(`${found.length} spans ${name}`);
  return span;
}

it("bar#OB-7 a flow's requests join the platform's trace, and vendor calls are children", async () => {
  const collector = await openCollector();
  const { baseUrl, secrets, vendor, yaml } = await startParties();
  const key = "canary-key-of-the-collector";
  const broker = await startBrokerProcess({
    yaml: yaml(),
    entry: "short-waits",
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_HEADERS: `api-key=${key}` },
  });
  plantSecret("the collector's key", key);
  const headers = { traceparent: TRACEPARENT, tracestate: TRACESTATE };
  const platform = createPlatform({ baseUrl, clientSecret: secrets.platform, headers });
  const { flow } = await platform.connect();
  plantVendorSecrets(vendor);
  // The next request is of a caller without traces.
  await send(`${baseUrl}/v1/vendors`);
  await broker.stop();

  const spans = collector.spans();
  const [par, token, redeem] = ["POST /v1/par", "POST /v1/token", "redeem op"].map((name) => named(spans, name));
  expect(par).toMatchObject({ traceId: TRACE_ID, parentSpanId: PARENT, kind: SERVER });
  expect(token).toMatchObject({ traceId: TRACE_ID, parentSpanId: PARENT, kind: SERVER });
  expect(token?.attributes).toMatchObject({
    "service.name": "oauth-broker",
    "http.request.method": "POST",
    "http.route": "/v1/token",
    "http.response.status_code": 200,
    "oauth_broker.client_id": "platform",
    "oauth_broker.flow_id": flow.flowId,
    "oauth_broker.vendor": "op",
  });
  // The broker redeems the vendor's code at the callback or at /v1/token: under the request's span.
  expect(redeem).toMatchObject({ kind: CLIENT, attributes: { "oauth_broker.operation": "redeem" } });
  const parent = spans.find(({ spanId }) => spanId === redeem?.parentSpanId);
  expect(parent).toMatchObject({ kind: SERVER, traceId: redeem?.traceId });
  expect(named(spans, "GET /v1/vendors").traceId).toMatch(/^(?!0{32})[0-9a-f]{32}$/);
  expect(named(spans, "GET /v1/vendors").traceId).not.toBe(TRACE_ID);

  const lines = linesOf(broker.stdout());
  const idsOf = (event: string, route?: string): (string | undefined)[] =>
    lines.filter((line) => line.event === event && line.route === route).map((line) => line.trace_id);
  expect(idsOf("request", "/v1/par")).toEqual([TRACE_ID]);
  expect(idsOf("request", "/v1/token")).toEqual([TRACE_ID]);
  expect(idsOf("vendor_call")).toEqual([redeem?.traceId]);
  expect(idsOf("listening")).toEqual([undefined]);
  for (const { event, trace_id: id } of lines) if (event === "request") expect(id).toMatch(/^[0-9a-f]{32}$/);

  expect(collector.text()).toContain(`"api-key":"${key}"`);
  const [body = ""] = collector.text().match(/^\{"resourceSpans".*$/m) ?? [];
  expect(plantedCount()).toBeGreaterThan(8);
  expect(findSecrets(body)).toEqual([]);
  expect(body).not.toMatch(/canary|\?/);
  const seen = JSON.stringify(vendor.requests());
  expect(seen).not.toMatch(/traceparent|tracestate|canary-of/i);
  expect(seen).not.toContain(TRACE_ID);
  await vendor.close();
});

it("a deployed server's call of a tool joins the caller's trace, down to the vendor's API", async () => {
  const collector = await openCollector();
  const vendor = await startGitHubVendor();
  const server = await startMcpServer({
    OAUTH_MODE: "pre-registered",
    PORT: String(await freePort()),
    PLATFORM_OAUTH_CALLBACK_URL: PLATFORM_CALLBACK,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_SERVICE_NAME: "my-server",
    ...vendor.env,
  });
  const client = await connectClient(server.mcp, await vendor.obtainToken(), "modern");
  await callTool(client, "whoami");
  await client.close();
  await server.stop();

  const spans = collector.spans();
  const account = named(spans, "account github");
  const request = spans.find(({ spanId }) => spanId === account.parentSpanId);
  expect(request).toMatchObject({ name: "POST /mcp", kind: SERVER, traceId: account.traceId });
  expect(request?.attributes).toMatchObject({ "service.name": "my-server", "oauth_broker.vendor": "github" });
  const lines = linesOf(server.stdout()).filter(({ trace_id: id }) => id === account.traceId);
  expect(lines.map(({ event }) => event).toSorted()).toEqual(["request", "tool_call", "vendor_call"]);
  expect(findSecrets(collector.text())).toEqual([]);
  await vendor.close();
});
