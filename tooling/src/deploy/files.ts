/** The generated files of deploy/. */
import { brokerAlarms, serverAlarms } from "./alarms.ts";
import { METRICS_NAMESPACE, renderBrokerTemplate, renderServerTemplate } from "./cloudformation.ts";
import { renderAgent } from "./cloudwatch.ts";
import { renderBrokerDashboard, renderServerDashboard } from "./grafana.ts";
import { renderRules } from "./prometheus.ts";

/**
 * @param brokerReadme the text of apps/broker/README.md, whose alarms these files have
 * @param serverReadme the text of apps/mcp-template/README.md
 */
export function deployFiles(brokerReadme: string, serverReadme: string): [path: string, content: string][] {
  const [broker, server] = [brokerAlarms(brokerReadme), serverAlarms(serverReadme)];
  return [
    ["deploy/aws/broker.yaml", renderBrokerTemplate(broker)],
    ["deploy/aws/mcp-server.yaml", renderServerTemplate(server)],
    [
      "deploy/aws/cloudwatch-agent.json",
      renderAgent(METRICS_NAMESPACE, { "oauth-broker": broker, "mcp-server": server }),
    ],
    ["deploy/prometheus-rules.yaml", renderRules(broker, server)],
    ["deploy/grafana/broker.json", renderBrokerDashboard()],
    ["deploy/grafana/mcp-server.json", renderServerDashboard()],
  ];
}
