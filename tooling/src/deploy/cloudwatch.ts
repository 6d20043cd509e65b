/**
 * The recommended alarms in CloudWatch: `AWS::CloudWatch::Alarm` resources over counters that the
 * CloudWatch agent scrapes from `/metrics`, and the agent's configuration, which sends exactly the
 * metrics and dimensions those alarms watch. The agent sends no histograms, so what is slow has an
 * alarm in Prometheus only.
 */
import { type Alarm, type Counter, descriptionOf, identifierOf, type Job, type Json } from "./alarms.ts";

const ACTIONS = { "Fn::If": ["HasAlarmTopic", [{ Ref: "AlarmTopicArn" }], { Ref: "AWS::NoValue" }] };
const WINDOW_SECONDS = 300;

/** An alarm in either direction: reported when it starts and when it ends. */
export function alarmResource(properties: Json, condition?: string): Json {
  return {
    Type: "AWS::CloudWatch::Alarm",
    ...(condition === undefined ? {} : { Condition: condition }),
    Properties: { ...properties, TreatMissingData: "notBreaching", AlarmActions: ACTIONS, OKActions: ACTIONS },
  };
}

/** Logical id → alarm, for each counter of each alarm that has one. */
export function counterAlarms(job: Job, alarms: readonly Alarm[]): Readonly<Record<string, Json>> {
  return Object.fromEntries(
    alarms.flatMap((alarm) =>
      (alarm.cloudwatch?.counters ?? []).map((counter, index) => {
        const name = identifierOf("Counter", alarm.name) + (index === 0 ? "" : String(index + 1));
        const isAny = alarm.cloudwatch?.when === "any";
        const stat = (period: number): Json => ({
          Metric: {
            Namespace: { Ref: "MetricsNamespace" },
            MetricName: counter.metric,
            Dimensions: Object.entries({ job, ...counter.labels }).map(([Name, Value]) => ({ Name, Value })),
          },
          Stat: "Sum",
          Period: period,
        });
        const watched = isAny
          ? {
              Metrics: [{ Id: "events", MetricStat: stat(alarm.forMinutes > 0 ? 60 : WINDOW_SECONDS) }],
              ComparisonOperator: "GreaterThanThreshold",
              Threshold: 0,
              EvaluationPeriods: alarm.forMinutes + 1,
            }
          : {
              Metrics: [
                { Id: "events", MetricStat: stat(WINDOW_SECONDS) },
                { Id: "normal", Expression: "ANOMALY_DETECTION_BAND(events, 3)" },
              ],
              ComparisonOperator: "GreaterThanUpperThreshold",
              ThresholdMetricId: "normal",
              EvaluationPeriods: 2,
            };
        const AlarmDescription = `${alarm.name}: ${descriptionOf(alarm)}`;
        return [name, alarmResource({ AlarmDescription, ...watched }, "HasMetrics")];
      }),
    ),
  );
}

/** The agent's configuration. @param namespace of the metrics it sends */
export function agentConfiguration(namespace: string, services: Readonly<Record<Job, readonly Alarm[]>>): Json {
  const declarations = Object.entries(services).flatMap(([job, alarms]) => {
    const counters = alarms.flatMap(({ cloudwatch }) => cloudwatch?.counters ?? []);
    return [...Map.groupBy(counters, ({ metric }) => metric)].map(([metric, watched]) => ({
      source_labels: ["job"],
      label_matcher: `^${job}$`,
      metric_selectors: [`^${metric}$`],
      dimensions: dimensionsOf(watched),
    }));
  });
  const emf = { metric_namespace: namespace, metric_declaration: declarations };
  const prometheus = { prometheus_config_path: "/etc/cwagent/prometheus.yaml", emf_processor: emf };
  return { logs: { metrics_collected: { prometheus } } };
}

/** Each set of names once. */
function dimensionsOf(counters: readonly Counter[]): readonly (readonly string[])[] {
  const sets = counters.map(({ labels }) => ["job", ...Object.keys(labels)]);
  return [...new Map(sets.map((names) => [names.join(), names])).values()];
}
