/** deploy/grafana/*.json: a dashboard of the broker, and one of deployed MCP servers. */
import type { Job, Json } from "./alarms.ts";

interface Panel {
  readonly title: string;
  readonly unit: "reqps" | "s" | "percentunit" | "bytes" | "short";
  /** Legend → PromQL. */
  readonly queries: Readonly<Record<string, string>>;
}

const panel = (title: string, unit: Panel["unit"], queries: Panel["queries"]): Panel => ({ title, unit, queries });

const WIDTH = 12;
const HEIGHT = 8;
const SOURCE = { type: "prometheus", uid: "${datasource}" };

const rate = (metric: string, by: string, labels = ""): string =>
  `sum by (${by}) (rate(${metric}{job="$job"${labels}}[$__rate_interval]))`;
const p99 = (histogram: string, by: string): string =>
  `histogram_quantile(0.99, ${rate(`${histogram}_bucket`, `${by}le`)})`;

/** Panels of every service. */
const REQUESTS: readonly Panel[] = [
  panel("Requests by status", "reqps", { "{{status}}": rate("http_requests_total", "status") }),
  panel("Slowest hundredth, by route", "s", { "{{route}}": p99("http_request_duration_seconds", "route, ") }),
];

const PROCESS: readonly Panel[] = [
  panel("Processor of each process", "percentunit", {
    "{{instance}}": 'rate(process_cpu_seconds_total{job="$job"}[$__rate_interval])',
  }),
  panel("Memory of each process", "bytes", { "{{instance}}": 'process_resident_memory_bytes{job="$job"}' }),
  panel("Delay of the event loop, slowest hundredth", "s", {
    "{{instance}}": 'nodejs_eventloop_lag_p99_seconds{job="$job"}',
  }),
];

const BROKER: readonly Panel[] = [
  panel("Refusals by leg and reason", "reqps", { "{{leg}}: {{reason}}": rate("broker_refusals_total", "leg, reason") }),
  panel("Calls to vendors by operation", "reqps", { "{{operation}}": rate("broker_vendor_calls_total", "operation") }),
  panel("Calls to vendors that failed", "reqps", {
    "{{vendor}}: {{outcome}}": rate("broker_vendor_calls_total", "vendor, outcome", ',outcome!="ok"'),
  }),
  panel("Refreshes answered from a parallel one", "reqps", {
    "{{instance}}": rate("broker_refresh_replays_total", "instance"),
  }),
];

const SERVER: readonly Panel[] = [
  panel("Calls of tools by outcome", "reqps", {
    "{{tool}}: {{outcome}}": rate("mcp_tool_calls_total", "tool, outcome"),
  }),
  panel("Refusals by leg and reason", "reqps", { "{{leg}}: {{reason}}": rate("mcp_refusals_total", "leg, reason") }),
  panel("Users asked to link, and links made", "reqps", {
    "{{vendor}}: asked by {{mode}}": rate("mcp_elicitations_total", "vendor, mode"),
    "{{vendor}}: redeemed": rate("mcp_vendor_calls_total", "vendor", ',operation="redeem",outcome="ok"'),
  }),
  panel("Calls to vendors that failed", "reqps", {
    "{{vendor}}: {{operation}} {{outcome}}": rate(
      "mcp_vendor_calls_total",
      "vendor, operation, outcome",
      ',outcome!="ok"',
    ),
  }),
  panel("Answers of vendors' APIs by status", "reqps", {
    "{{vendor}}: {{status}}": rate("mcp_vendor_api_answers_total", "vendor, status"),
  }),
  panel("Table and key service, slowest hundredth", "s", {
    "{{store}}: {{operation}}": p99("mcp_store_duration_seconds", "store, operation, "),
    "key: {{operation}}": p99("mcp_key_duration_seconds", "operation, "),
  }),
];

export function brokerDashboard(): Json {
  return dashboard("OAuth broker", "oauth-broker", [...REQUESTS, ...BROKER, ...PROCESS]);
}

export function serverDashboard(): Json {
  return dashboard("MCP server", "mcp-server", [...REQUESTS, ...SERVER, ...PROCESS]);
}

function dashboard(title: string, job: Job, panels: readonly Panel[]): Json {
  return {
    title,
    uid: job,
    schemaVersion: 39,
    editable: true,
    time: { from: "now-6h", to: "now" },
    refresh: "30s",
    templating: {
      list: [
        { name: "datasource", type: "datasource", query: "prometheus", label: "Data source" },
        {
          name: "job",
          type: "query",
          datasource: SOURCE,
          query: "label_values(http_requests_total, job)",
          current: { text: job, value: job },
        },
      ],
    },
    panels: panels.map(({ title, unit, queries }, index) => ({
      id: index + 1,
      title,
      type: "timeseries",
      datasource: SOURCE,
      gridPos: { x: (index % 2) * WIDTH, y: Math.floor(index / 2) * HEIGHT, w: WIDTH, h: HEIGHT },
      fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
      targets: Object.entries(queries).map(([legendFormat, expr], at) => ({
        refId: String.fromCharCode(65 + at),
        datasource: SOURCE,
        expr,
        legendFormat,
      })),
    })),
  };
}
