/**
 * deploy/helm/oauth-broker: the broker's image on Kubernetes, on a table (several pods) or with a
 * SQLite store in a volume (one pod). The table, key and role are those of deploy/aws or
 * deploy/terraform. The manifests are objects here, so that YAML is written by a library; what Helm
 * fills in stands in their texts as `{{ … }}`.
 */
import { stringify } from "yaml";
import type { Json } from "./alarms.ts";

const PORT = 8787;
/** The user `node` of the image. */
const USER = 1000;
const DATA = "/var/lib/broker";

const yaml = (value: unknown): string =>
  stringify(value, { lineWidth: 0, aliasDuplicateObjects: false, schema: "yaml-1.1" });

/** What Helm writes instead of an expression may be a number or a mapping: no quotes around it. One that needs them says so. */
const asTemplate = (manifest: Json, condition?: string): string => {
  const text = yaml(manifest).replace(/(["'])(\{\{ .* \}\})\1$/gm, "$2");
  return condition === undefined ? text : `{{- if ${condition} }}\n${text}{{- end }}\n`;
};

/** A member of a mapping that is the value, as YAML, at its indent. */
const toYaml = (value: string, indent: number): string => `{{ toYaml ${value} | nindent ${indent} }}`;

const NAME = "{{ .Release.Name }}";
const SELECTED = { "app.kubernetes.io/name": "oauth-broker", "app.kubernetes.io/instance": NAME };
const LABELS = { ...SELECTED, "app.kubernetes.io/version": "{{ .Chart.AppVersion | quote }}" };
const metadata = (more: Json = {}): Json => ({ name: NAME, labels: LABELS, ...more });

/** Private networks: the broker refuses them too, unless egress.allow_cidrs names them. */
const PRIVATE = ["10.0.0.0/8", "100.64.0.0/10", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16"];

const VALUES: Json = {
  image: { repository: "ghcr.io/OWNER/oauth-broker", tag: "", digest: "" },
  // One with persistence: SQLite is for the processes of one machine.
  replicas: 2,
  config: {
    base_url: "https://broker.example.com",
    store: "dynamodb:oauth-broker?region=eu-west-1",
    keys: "kms:arn:aws:kms:eu-west-1:111122223333:alias/oauth-broker",
    clients: [
      {
        client_id: "platform",
        client_secret: "env:PLATFORM_SECRET",
        redirect_uris: ["https://platform.example.com/oauth/vendor-callback"],
      },
    ],
  },
  secretName: "oauth-broker",
  serviceAccount: { annotations: {} },
  persistence: { enabled: false, size: "1Gi" },
  resources: { requests: { cpu: "250m", memory: "256Mi" }, limits: { memory: "512Mi" } },
  networkPolicy: {
    enabled: true,
    ingressFrom: [{ namespaceSelector: {} }],
    egress: [
      {
        to: [{ namespaceSelector: {} }],
        ports: [
          { port: 53, protocol: "UDP" },
          { port: 53, protocol: "TCP" },
        ],
      },
      { to: [{ ipBlock: { cidr: "0.0.0.0/0", except: PRIVATE } }], ports: [{ port: 443, protocol: "TCP" }] },
    ],
  },
};

const VALUE_COMMENTS: readonly [before: string, comment: string][] = [
  ["image:", "Your registry. The digest wins over the tag; without either, the version of the chart."],
  ["replicas:", "With persistence it is 1: a SQLite store is for the processes of one machine."],
  ["config:", "broker.yaml; every field: docs/configuration.md. Secrets are env:NAME, from the secret below."],
  ["secretName:", "A secret that you make: each key is a variable of the environment."],
  ["serviceAccount:", "On EKS: eks.amazonaws.com/role-arn, a role with the policy TaskPolicyArn."],
  ["persistence:", 'With it: store: "sqlite:/var/lib/broker/broker.sqlite" above, without keys.'],
  [
    "networkPolicy:",
    "Who reaches the port, /metrics too, and what the broker reaches: DNS, and https that is not private.",
  ],
];

const probe = (path: string, periodSeconds: number, failureThreshold: number): Json => ({
  httpGet: { path, port: "http" },
  periodSeconds,
  failureThreshold,
  timeoutSeconds: 3,
});

const IMAGE =
  "{{ .Values.image.repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}";

const POD: Json = {
  serviceAccountName: NAME,
  automountServiceAccountToken: false,
  // /readyz fails at once, requests in flight get 10 s; before SIGTERM the endpoint is taken out.
  terminationGracePeriodSeconds: 30,
  securityContext: {
    runAsNonRoot: true,
    runAsUser: USER,
    runAsGroup: USER,
    fsGroup: USER,
    seccompProfile: { type: "RuntimeDefault" },
  },
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: "kubernetes.io/hostname",
      whenUnsatisfiable: "ScheduleAnyway",
      labelSelector: { matchLabels: SELECTED },
    },
  ],
  containers: [
    {
      name: "broker",
      image: IMAGE,
      ports: [{ name: "http", containerPort: PORT }],
      envFrom: [{ secretRef: { name: "{{ .Values.secretName }}" } }],
      securityContext: {
        readOnlyRootFilesystem: true,
        allowPrivilegeEscalation: false,
        capabilities: { drop: ["ALL"] },
      },
      startupProbe: probe("/healthz", 2, 30),
      livenessProbe: probe("/healthz", 10, 3),
      readinessProbe: probe("/readyz", 2, 1),
      lifecycle: { preStop: { sleep: { seconds: 5 } } },
      resources: toYaml(".Values.resources", 12),
      volumeMounts: [
        { name: "config", mountPath: "/etc/broker", readOnly: true },
        { name: "data", mountPath: DATA },
      ],
    },
  ],
  volumes: [
    { name: "config", configMap: { name: NAME } },
    {
      name: "data",
      "{{- if .Values.persistence.enabled }}": "",
      persistentVolumeClaim: { claimName: NAME },
      "{{- else }}": "",
      emptyDir: {},
      "{{- end }}": "",
    },
  ],
};

/** A key that is an action of Helm's becomes its line. */
const withActions = (text: string): string => text.replace(/^ *"(\{\{-.*\}\})": ""$/gm, "$1");

const TEMPLATES: Readonly<Record<string, string>> = {
  "configmap.yaml": asTemplate({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: metadata(),
    data: { "broker.yaml": "{{ toYaml .Values.config | quote }}" },
  }),
  "deployment.yaml": withActions(
    asTemplate({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: metadata(),
      spec: {
        replicas: "{{ .Values.persistence.enabled | ternary 1 .Values.replicas }}",
        selector: { matchLabels: SELECTED },
        // A volume belongs to one pod at a time.
        strategy: { type: `{{ .Values.persistence.enabled | ternary "Recreate" "RollingUpdate" }}` },
        template: {
          metadata: {
            labels: LABELS,
            // The file is read at start: another one is another pod.
            annotations: { "checksum/config": "{{ toYaml .Values.config | sha256sum }}" },
          },
          spec: POD,
        },
      },
    }),
  ),
  "service.yaml": asTemplate({
    apiVersion: "v1",
    kind: "Service",
    metadata: metadata(),
    spec: { selector: SELECTED, ports: [{ name: "http", port: 80, targetPort: "http" }] },
  }),
  "serviceaccount.yaml": asTemplate({
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: metadata({ annotations: toYaml(".Values.serviceAccount.annotations", 4) }),
    automountServiceAccountToken: false,
  }),
  "poddisruptionbudget.yaml": asTemplate({
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: metadata(),
    spec: { maxUnavailable: 1, selector: { matchLabels: SELECTED } },
  }),
  "networkpolicy.yaml": asTemplate(
    {
      apiVersion: "networking.k8s.io/v1",
      kind: "NetworkPolicy",
      metadata: metadata(),
      spec: {
        podSelector: { matchLabels: SELECTED },
        policyTypes: ["Ingress", "Egress"],
        ingress: [{ from: toYaml(".Values.networkPolicy.ingressFrom", 8), ports: [{ port: PORT, protocol: "TCP" }] }],
        egress: toYaml(".Values.networkPolicy.egress", 4),
      },
    },
    ".Values.networkPolicy.enabled",
  ),
  "persistentvolumeclaim.yaml": asTemplate(
    {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: metadata({ annotations: { "helm.sh/resource-policy": "keep" } }),
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "{{ .Values.persistence.size }}" } } },
    },
    ".Values.persistence.enabled",
  ),
};

/**
 * @param version of the release, also that of the image
 * @returns path in the chart → content, without the line that says how it is made
 */
export function helmChart(version: string): [path: string, content: string][] {
  const values = VALUE_COMMENTS.reduce(
    (text, [before, comment]) => text.replace(new RegExp(`^${before}`, "m"), `# ${comment}\n${before}`),
    yaml(VALUES),
  );
  const chart = {
    apiVersion: "v2",
    name: "oauth-broker",
    description: "A hosted OAuth broker with one redirect URI",
    type: "application",
    version,
    appVersion: version,
    kubeVersion: ">=1.30.0-0",
  };
  return [
    ["Chart.yaml", yaml(chart)],
    ["values.yaml", values],
    ...Object.entries(TEMPLATES).map(([name, text]): [string, string] => [`templates/${name}`, text]),
  ];
}
