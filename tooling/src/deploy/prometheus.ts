/**
 * deploy/prometheus-rules.yaml: the recommended alarms as alerting rules. The scraper names the jobs
 * `oauth-broker` and `mcp-server`.
 */
import { type Alarm, descriptionOf, identifierOf, type Json } from "./alarms.ts";

/** @returns the groups of both services */
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
