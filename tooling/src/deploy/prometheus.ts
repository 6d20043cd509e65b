/**
 * deploy/prometheus-rules.yaml: the recommended alarms as alerting rules. The scraper names the jobs
 * `oauth-broker` and `mcp-server`.
 */
import { stringify } from "yaml";
import { type Alarm, identifierOf } from "./alarms.ts";

const GENERATED = "# Generated. Remake: npm run docs\n";

/** Text for one line of an annotation: a README's Markdown without its marks. */
export function plainText(markdown: string): string {
  return markdown.replaceAll("`", "").replace(/\*\*/g, "");
}

/** @returns a generated YAML file; text that other parsers take for a date or a boolean is quoted */
export function generatedYaml(value: unknown): string {
  return GENERATED + stringify(value, { lineWidth: 0, aliasDuplicateObjects: false, schema: "yaml-1.1" });
}

export function renderRules(broker: readonly Alarm[], server: readonly Alarm[]): string {
  const group = (name: string, prefix: string, service: string, alarms: readonly Alarm[]) => ({
    name,
    rules: alarms.map((alarm) => ({
      alert: identifierOf(prefix, alarm.name),
      expr: alarm.promql,
      for: `${alarm.forMinutes}m`,
      labels: { service },
      annotations: {
        summary: alarm.name,
        description: `${plainText(alarm.condition)}. Look at: ${plainText(alarm.lookAt)}`,
      },
    })),
  });
  const groups = [
    group("oauth-broker", "Broker", "oauth-broker", broker),
    group("mcp-server", "McpServer", "mcp-server", server),
  ];
  return generatedYaml({ groups });
}
