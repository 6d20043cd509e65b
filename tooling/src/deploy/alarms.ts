/**
 * The recommended alarms of the broker and of a deployed MCP server, as queries. Their names,
 * conditions and advice are the tables of the two README files; here each name gets its PromQL and,
 * if a counter says it, what CloudWatch watches (cloudwatch.ts).
 */
import { tablesIn } from "../tables.ts";

/** A part of a generated file. */
export type Json = Readonly<Record<string, unknown>>;

/** The value of the label `job` that the scraper gives each service. */
export type Job = "oauth-broker" | "mcp-server";

/** A counter with some of its labels. */
export interface Counter {
  readonly metric: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** The query of one row of a README. */
export interface AlarmQuery {
  readonly promql: string;
  /** How long it must hold. */
  readonly forMinutes: number;
  /** Absent: CloudWatch has no metric that says it. */
  readonly cloudwatch?: { readonly counters: readonly Counter[]; readonly when: "any" | "above normal" };
}

/** A row of the table "Recommended alarms" of a README, with its query. */
export interface Alarm extends AlarmQuery {
  readonly name: string;
  readonly condition: string;
  readonly lookAt: string;
}

/** "Above normal": at least this many events in the window, and three times that of the day before. */
const LEAST_EVENTS = 10;
const TIMES_NORMAL = 3;
const WINDOWS_PER_DAY = { "5m": 288, "1h": 24 } as const;

function queriesOf(job: Job) {
  const select = ({ metric, labels }: Counter): string =>
    `${metric}{${Object.entries({ job, ...labels })
      .map(([name, value]) => `${name}="${value}"`)
      .join(",")}}`;
  const counter = (metric: string, labels: Readonly<Record<string, string>> = {}): Counter => ({ metric, labels });
  return {
    counter,
    select,
    /** While probes fail and none passes, or no process can be scraped. */
    notReady: (): AlarmQuery => {
      const probes = (status: string): Counter => counter("http_requests_total", { route: "/readyz", status });
      const within = (status: string): string => `sum by (instance) (increase(${select(probes(status))}[1m])) > 0`;
      return {
        promql: `(${within("503")}\nunless ${within("200")})\nor up{job="${job}"} == 0`,
        forMinutes: 1,
        cloudwatch: { counters: [probes("503")], when: "any" },
      };
    },
    /** `increase` does not see the first event of a series that begins with it: `unless` does. */
    any: (one: Counter, by: string): AlarmQuery => ({
      promql:
        `sum by (${by}) (increase(${select(one)}[5m])) > 0\n` +
        `or sum by (${by}) (${select(one)} unless ${select(one)} offset 5m) > 0`,
      forMinutes: 0,
      cloudwatch: { counters: [one], when: "any" },
    }),
    aboveNormal: (
      counters: readonly Counter[],
      by: string,
      window: keyof typeof WINDOWS_PER_DAY = "5m",
    ): AlarmQuery => ({
      promql: counters
        .map((one) => {
          const now = `sum by (${by}) (increase(${select(one)}[${window}]))`;
          const dayBefore = `sum by (${by}) (increase(${select(one)}[1d] offset 1h))`;
          return `(${now} > ${LEAST_EVENTS} unless ${now} <= ${TIMES_NORMAL} * ${dayBefore} / ${WINDOWS_PER_DAY[window]})`;
        })
        .join("\nor "),
      forMinutes: 5,
      cloudwatch: { counters, when: "above normal" },
    }),
    slow: (histogram: string, labels: Readonly<Record<string, string>>, by: string, seconds: number): string =>
      `histogram_quantile(0.99, sum by (${by}) (rate(${select({ metric: `${histogram}_bucket`, labels })}[5m]))) > ${seconds}`,
  };
}

function brokerQueries(): Readonly<Record<string, AlarmQuery>> {
  const { counter, notReady, any, aboveNormal, slow } = queriesOf("oauth-broker");
  const calls = (outcome: string): Counter => counter("broker_vendor_calls_total", { outcome });
  return {
    "not ready": notReady(),
    "a bug in the broker": any(counter("http_requests_total", { status: "500" }), "route"),
    "vendor down": aboveNormal([calls("temporarily_unavailable")], "vendor"),
    "vendor credentials invalid": any(calls("vendor_credentials_rejected"), "vendor"),
    "vendor's responses changed": any(calls("vendor_response_invalid"), "vendor"),
    "the keys cannot be read": any(counter("broker_keyset_failures_total"), "instance"),
    "nothing can be recorded": any(counter("broker_refusals_total", { reason: "audit_unavailable" }), "instance"),
    "attack, or a broken client": aboveNormal([counter("broker_refusals_total", { leg: "callback" })], "reason"),
    guessing: aboveNormal([counter("http_requests_total", { status: "401" })], "route"),
    slow: { promql: slow("http_request_duration_seconds", { route: "/v1/par" }, "le", 0.1), forMinutes: 5 },
    "a client above its limit": any(counter("http_requests_total", { status: "429" }), "route"),
  };
}

function serverQueries(): Readonly<Record<string, AlarmQuery>> {
  const { counter, select, notReady, any, aboveNormal, slow } = queriesOf("mcp-server");
  const calls = (labels: Readonly<Record<string, string>>): Counter => counter("mcp_vendor_calls_total", labels);
  const asked = `sum by (vendor) (increase(${select(counter("mcp_elicitations_total"))}[1h]))`;
  const linked = `sum by (vendor) (increase(${select(calls({ operation: "redeem" }))}[1h]))`;
  return {
    "not ready": notReady(),
    "a bug in a tool": any(counter("mcp_tool_calls_total", { outcome: "tool_failed" }), "tool"),
    "vendor down": aboveNormal(
      [calls({ outcome: "temporarily_unavailable" }), counter("mcp_vendor_api_answers_total", { status: "none" })],
      "vendor",
    ),
    "vendor credentials invalid": any(calls({ outcome: "vendor_credentials_rejected" }), "vendor"),
    "grants die": aboveNormal([calls({ operation: "refresh", outcome: "invalid_grant" })], "vendor", "1h"),
    "users do not link": { promql: `${asked} > 5\nunless ${linked} > 0`, forMinutes: 0 },
    "attack, or a broken client": aboveNormal([counter("mcp_refusals_total")], "leg, reason"),
    "store or keys slow": {
      promql: `${slow("mcp_store_duration_seconds", {}, "le, store", 0.1)}\nor ${slow("mcp_key_duration_seconds", {}, "le", 0.5)}`,
      forMinutes: 5,
    },
  };
}

const QUERIES = { "oauth-broker": brokerQueries(), "mcp-server": serverQueries() };

/**
 * @param readme the text of the README.md of the job's app
 * @throws Error for a row without a query, and a query without a row
 */
export function alarmsOf(job: Job, readme: string): readonly Alarm[] {
  const queries: Readonly<Record<string, AlarmQuery>> = QUERIES[job];
  const [, after = ""] = readme.split(/^Recommended alarms.*$/m);
  const [table] = tablesIn(after);
  const rows = (table?.rows ?? []).map(([name = "", condition = "", lookAt = ""]) => ({ name, condition, lookAt }));
  const names = rows.map(({ name }) => name);
  const known = Object.keys(queries);
  const differing = [...names, ...known].filter((name) => !names.includes(name) || !known.includes(name));
  if (differing.length > 0) throw new Error(`The README's alarms and alarms.ts differ: ${differing.join("; ")}`);
  return rows.flatMap((row) => {
    const query = queries[row.name];
    return query === undefined ? [] : [{ ...row, ...query }];
  });
}

/** One line for those who are alarmed: the README's Markdown without its marks. */
export function descriptionOf({ condition, lookAt }: Pick<Alarm, "condition" | "lookAt">): string {
  return `${condition}. Look at: ${lookAt}`.replaceAll("`", "");
}

/** `BrokerVendorDown` of "vendor down": the name of a rule or of a resource. */
export function identifierOf(prefix: string, name: string): string {
  const words = name.replaceAll("'", "").match(/[A-Za-z0-9]+/g) ?? [];
  return prefix + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}

/** The alarms as alerting rules of Prometheus. */
export function alertingRules(broker: readonly Alarm[], server: readonly Alarm[]): Json {
  const group = (name: string, prefix: string, service: string, alarms: readonly Alarm[]) => ({
    name,
    rules: alarms.map((alarm) => ({
      alert: identifierOf(prefix, alarm.name),
      expr: alarm.promql,
      for: `${alarm.forMinutes}m`,
      labels: { service },
      annotations: {
        summary: alarm.name,
        description: descriptionOf(alarm),
      },
    })),
  });
  const groups = [
    group("oauth-broker", "Broker", "oauth-broker", broker),
    group("mcp-server", "McpServer", "mcp-server", server),
  ];
  return { groups };
}
