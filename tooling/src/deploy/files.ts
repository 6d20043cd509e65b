/** The generated files of deploy/. */
import { stringify } from "yaml";
import { alertingRules, alarmsOf, type Json } from "./alarms.ts";
import { brokerTemplate, METRICS_NAMESPACE, serverTemplate } from "./cloudformation.ts";
import { agentConfiguration } from "./cloudwatch.ts";
import { brokerDashboard, serverDashboard } from "./grafana.ts";
import { terraformModule } from "./terraform.ts";
import manifest from "../../../packages/oauth-core/package.json" with { type: "json" };

const REMAKE = "Generated. Remake: npm run docs";

/** Text that older parsers take for a date or a boolean is quoted. */
const asYaml = (value: Json): string =>
  `# ${REMAKE}\n${stringify(value, { lineWidth: 0, aliasDuplicateObjects: false, schema: "yaml-1.1" })}`;
const asJson = (value: Json): string => `${JSON.stringify(value, null, 2)}\n`;

/** @param version of the release, also that of the image */
const helmChart = (version: string): Json => ({
  apiVersion: "v2",
  name: "oauth-broker",
  description: "A hosted OAuth broker with one redirect URI",
  type: "application",
  version,
  appVersion: version,
  kubeVersion: ">=1.30.0-0",
});

/**
 * @param brokerReadme the text of apps/broker/README.md, whose alarms these files have
 * @param serverReadme the text of apps/mcp-template/README.md
 */
export function deployFiles(brokerReadme: string, serverReadme: string): [path: string, content: string][] {
  const [broker, server] = [alarmsOf("oauth-broker", brokerReadme), alarmsOf("mcp-server", serverReadme)];
  const agent = agentConfiguration(METRICS_NAMESPACE, { "oauth-broker": broker, "mcp-server": server });
  const [brokerStack, serverStack] = [brokerTemplate(broker), serverTemplate(server)];
  return [
    ["deploy/aws/broker.yaml", asYaml(brokerStack)],
    ["deploy/aws/mcp-server.yaml", asYaml(serverStack)],
    ["deploy/terraform/broker/main.tf", `# ${REMAKE}\n${terraformModule(brokerStack)}`],
    ["deploy/terraform/mcp-server/main.tf", `# ${REMAKE}\n${terraformModule(serverStack)}`],
    // The rest of the chart is written by hand: it has no table, key, role or alarm.
    ["deploy/helm/oauth-broker/Chart.yaml", asYaml(helmChart(manifest.version))],
    // The agent refuses members that it does not know.
    ["deploy/aws/cloudwatch-agent.json", asJson(agent)],
    ["deploy/prometheus-rules.yaml", asYaml(alertingRules(broker, server))],
    ["deploy/grafana/broker.json", asJson({ description: REMAKE, ...brokerDashboard() })],
    ["deploy/grafana/mcp-server.json", asJson({ description: REMAKE, ...serverDashboard() })],
  ];
}
