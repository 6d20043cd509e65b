/**
 * Prometheus metrics of one app instance, for the broker and for deployed servers: requests,
 * refusals, calls to vendors, and what an app adds. A label is always one of few values: what
 * callers send (paths, ids, texts) never becomes one, and no label names a user or a client.
 */
import { collectDefaultMetrics, Counter, Histogram, Registry } from "prom-client";
import type { RequestMetrics } from "../http/http-layer.ts";
import type { VendorCallMetrics } from "../tracing/vendor-calls.ts";

/** A label's values as they may be shown: of few values. */
export type LabelRule = (value: string) => string;

type Rules<Label extends string> = Readonly<Record<Label, LabelRule>>;
type Values<Label extends string> = Readonly<Record<Label, string>>;

/** The metrics that every service has, and how it adds its own. */
export interface ServiceMetrics extends RequestMetrics, VendorCallMetrics {
  /** @param name without the prefix of the service. @returns adds one */
  counter<Label extends string>(name: string, help: string, labels: Rules<Label>): (values: Values<Label>) => void;
  /** @param name without the prefix of the service. @returns takes a duration in seconds */
  timer<Label extends string>(
    name: string,
    help: string,
    labels: Rules<Label>,
  ): (values: Values<Label>, seconds: number) => void;
  render(): Promise<{ readonly contentType: string; readonly body: string }>;
}

/** What is counted beside the requests, and under which names. */
export interface ServiceMetricsOptions {
  /** The prefix of the service's own metrics: `broker`, `mcp`. */
  readonly prefix: string;
  /** Ids that may be a `vendor` label. */
  readonly vendors?: Iterable<string>;
}

const METHODS: ReadonlySet<string> = new Set(["GET", "POST", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE"]);
const DURATION_BUCKETS = [0.001, 0.005, 0.025, 0.1, 0.5, 1, 2.5, 10];
/**
 * Routes, legs and reasons are constants of the code. These limits matter only if one of them ever
 * is not.
 */
const MOST_ROUTES = 64;
const MOST_REASONS = 128;

/** Its own registry per instance, beside that of the process; nothing is shared with other libraries. */
export function createServiceMetrics({ prefix, vendors = [] }: ServiceMetricsOptions): ServiceMetrics {
  const registry = new Registry();
  const registers = [registry];
  const rendered = [metricsOfProcess(), registry];

  const count: ServiceMetrics["counter"] = (name, help, labels) => {
    const counter = new Counter({ name, help, labelNames: Object.keys(labels), registers });
    return (values) => counter.inc(shown(labels, values));
  };
  const time: ServiceMetrics["timer"] = (name, help, labels) => {
    const labelNames = Object.keys(labels);
    const histogram = new Histogram({ name, help, labelNames, buckets: DURATION_BUCKETS, registers });
    return (values, seconds) => histogram.observe(shown(labels, values), seconds);
  };
  const route = boundedLabel(/^[\w/.:{}*-]{1,64}$/, MOST_ROUTES);
  const countRequest = count("http_requests_total", "Requests answered, by route pattern", {
    route,
    method: knownLabel(METHODS),
    status: boundedLabel(/^\d{3}$/, MOST_ROUTES),
  });
  const timeRequest = time("http_request_duration_seconds", "Time from reading a request to its answer", { route });
  const countRefusal = count(`${prefix}_refusals_total`, "Requests and callbacks refused, by leg and reason", {
    leg: boundedLabel(/^[a-z_]{1,32}$/, MOST_ROUTES),
    reason: boundedLabel(/^[a-z_]{1,48}$/, MOST_REASONS),
  });
  const countVendorCall = count(`${prefix}_vendor_calls_total`, "Calls to vendors, by what came of them", {
    vendor: knownLabel(vendors),
    operation: String,
    outcome: outcomeLabel(),
  });
  return {
    countRequest: (pattern, method, status, seconds) => {
      countRequest({ route: pattern, method, status: String(status) });
      timeRequest({ route: pattern }, seconds);
    },
    countRefusal: (leg, why) => countRefusal({ leg, reason: why }),
    countVendorCall: (vendor, operation, outcome) => countVendorCall({ vendor, operation, outcome }),
    counter: (name, help, labels) => count(`${prefix}_${name}`, help, labels),
    timer: (name, help, labels) => time(`${prefix}_${name}`, help, labels),
    render: async () => {
      const bodies = await Promise.all(rendered.map((one) => one.metrics()));
      return { contentType: registry.contentType, body: bodies.join("\n") };
    },
  };
}

let ofProcess: Registry | undefined;

/** Once in a process, for all apps that it runs: the timer and the observer behind them never end. */
function metricsOfProcess(): Registry {
  if (ofProcess !== undefined) return ofProcess;
  ofProcess = new Registry();
  collectDefaultMetrics({ register: ofProcess });
  return ofProcess;
}

function shown<Label extends string>(labels: Rules<Label>, values: Values<Label>): Record<string, string> {
  const result: Record<string, string> = {};
  for (const name of Object.keys(labels) as Label[]) result[name] = labels[name](values[name]);
  return result;
}

/** One of these values; every other is `other`. */
export function knownLabel(values: Iterable<string>): LabelRule {
  const known = new Set(values);
  return (value) => (known.has(value) ? value : "other");
}

/** What came of something: a word of the code, or a status. */
export function outcomeLabel(): LabelRule {
  return boundedLabel(/^[a-z0-9_]{1,48}$/, MOST_REASONS);
}

/** The first `most` values of a plain shape become labels; every other value is `other`. */
function boundedLabel(shape: RegExp, most: number): LabelRule {
  const known = new Set<string>();
  return (value) => {
    if (known.has(value)) return value;
    if (known.size >= most || !shape.test(value)) return "other";
    known.add(value);
    return value;
  };
}
