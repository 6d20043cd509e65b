/**
 * The chart without Helm: its templates with the values of values.yaml in them, read as YAML. That
 * Helm and the schemas of Kubernetes accept it is checked by `.github/workflows/deploy.yml`.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { readTexts, ROOT } from "../sources.ts";
import type { Json } from "./alarms.ts";
import manifest from "../../../packages/oauth-core/package.json" with { type: "json" };

const FOLDER = join(ROOT, "deploy/helm/oauth-broker");
const chart = readTexts(["**/*.yaml"], FOLDER);
const VALUES = parse(chart.get("values.yaml") ?? "") as Json;
const templates = [...chart].filter(([path]) => path.startsWith("templates/"));

/** The value at a path with dots, as in `.Values.image.tag`. */
const at = (value: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>((inner, name) => (inner as Json | undefined)?.[name], value);

/** What Helm makes of these templates, with a mapping in YAML's other notation. */
function render(path: string, values: Json = VALUES): Json {
  const isOn = (condition: string): boolean => at({ Values: values }, condition.slice(1)) === true;
  const text = (chart.get(`templates/${path}`) ?? "")
    .replace(
      /^\{\{- if (\S+) \}\}\n([^]*?)(?:^\{\{- else \}\}\n([^]*?))?^\{\{- end \}\}\n/gm,
      (_, condition, yes, no) => (isOn(String(condition)) ? String(yes) : String(no ?? "")),
    )
    .replace(/\{\{ toYaml \.Values\.(\S+) \| nindent \d+ \}\}/g, (_, name: string) => JSON.stringify(at(values, name)))
    .replace(/\{\{ toYaml \.Values\.(\S+) \| quote \}\}/g, (_, name: string) =>
      JSON.stringify(JSON.stringify(at(values, name))),
    )
    .replace(/\{\{ \.Values\.(\S+) \| ternary (\S+) (\S+) \}\}/g, (_, name: string, yes: string, no: string) => {
      const chosen = at(values, name) === true ? yes : no;
      return chosen.startsWith(".Values.") ? String(at({ Values: values }, chosen.slice(1))) : chosen;
    })
    .replaceAll("{{ .Release.Name }}", "release")
    .replace(/\{\{ \.Values\.(\S+) \}\}/g, (_, name: string) => String(at(values, name)))
    .replace(/\{\{ .*? \| quote \}\}/g, '"quoted"')
    .replace(/\{\{ .*? \}\}/g, "text");
  return (parse(text) ?? {}) as Json;
}

const WITH_VOLUME: Json = { ...VALUES, persistence: { enabled: true, size: "1Gi" } };
const podOf = (values?: Json): Json => at(render("deployment.yaml", values), "spec.template.spec") as Json;
const containerOf = (values?: Json): Json => (podOf(values)["containers"] as Json[])[0] ?? {};

describe("the chart", () => {
  it("uses every value it has, and has every value it uses", () => {
    const text = templates.map(([, content]) => content).join("\n");
    const used = [...text.matchAll(/\.Values\.([\w.]+)/g)].map(([, path = ""]) => path);
    for (const path of used) expect(at(VALUES, path), path).toBeDefined();
    const isUsed = (path: string): boolean => used.some((one) => one === path || path.startsWith(`${one}.`));
    for (const [name, value] of Object.entries(VALUES)) {
      const inner = isUsed(name) ? [] : Object.keys(value as Json).map((key) => `${name}.${key}`);
      expect(inner.filter((path) => !isUsed(path))).toEqual([]);
    }
  });

  it("runs as the image's user, writes to its volume alone, and gets no token of the cluster", () => {
    const dockerfile = readFileSync(join(ROOT, "apps/broker/Dockerfile"), "utf8");
    expect(podOf()).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
    });
    expect(containerOf()).toMatchObject({
      securityContext: {
        readOnlyRootFilesystem: true,
        allowPrivilegeEscalation: false,
        capabilities: { drop: ["ALL"] },
      },
      ports: [{ containerPort: Number(/^EXPOSE (\d+)$/m.exec(dockerfile)?.[1]) }],
      volumeMounts: [
        { name: "config", mountPath: /BROKER_CONFIG=(\S+)\/broker\.yaml/.exec(dockerfile)?.[1], readOnly: true },
        { name: "data", mountPath: /^VOLUME (\S+)$/m.exec(dockerfile)?.[1] },
      ],
    });
    expect((podOf()["volumes"] as Json[])[1]).toEqual({ name: "data", emptyDir: {} });
  });

  it("asks /healthz whether the process lives, and /readyz whether it is served", () => {
    expect(containerOf()).toMatchObject({
      startupProbe: { httpGet: { path: "/healthz" } },
      livenessProbe: { httpGet: { path: "/healthz" } },
      readinessProbe: { httpGet: { path: "/readyz" }, failureThreshold: 1 },
    });
  });

  it("with a volume is one pod, which ends before the next one starts", () => {
    expect(at(render("deployment.yaml"), "spec")).toMatchObject({ replicas: 2, strategy: { type: "RollingUpdate" } });
    expect(render("persistentvolumeclaim.yaml")).toEqual({});
    expect(parse(String(at(render("deployment.yaml", WITH_VOLUME), "spec.replicas")))).toBe(1);
    expect(at(render("deployment.yaml", WITH_VOLUME), "spec.strategy.type")).toBe("Recreate");
    const claim = at(render("persistentvolumeclaim.yaml", WITH_VOLUME), "metadata.name");
    expect((podOf(WITH_VOLUME)["volumes"] as Json[])[1]).toMatchObject({ persistentVolumeClaim: { claimName: claim } });
  });

  it("has one selector for the pods, the service, the budget and the network policy", () => {
    const labels = at(render("deployment.yaml"), "spec.template.metadata.labels") as Json;
    const selectors = [
      at(render("deployment.yaml"), "spec.selector.matchLabels"),
      at(render("service.yaml"), "spec.selector"),
      at(render("poddisruptionbudget.yaml"), "spec.selector.matchLabels"),
      at(render("networkpolicy.yaml"), "spec.podSelector.matchLabels"),
    ];
    expect(new Set(selectors.map((one) => JSON.stringify(one))).size).toBe(1);
    expect(labels).toMatchObject(selectors[0] as Json);
    expect(at(render("poddisruptionbudget.yaml"), "spec.maxUnavailable")).toBe(1);
  });

  it("lets out DNS and https to addresses that are not private, and nothing else", () => {
    const { policyTypes, ingress, egress } = at(render("networkpolicy.yaml"), "spec") as Record<string, Json[]>;
    expect(policyTypes).toEqual(["Ingress", "Egress"]);
    expect(ingress?.map(({ ports }) => ports)).toEqual([[{ port: 8787, protocol: "TCP" }]]);
    expect(egress?.flatMap(({ ports }) => (ports as Json[]).map(({ port }) => port))).toEqual([53, 53, 443]);
    expect(at(egress?.[1], "to.0.ipBlock.except")).toEqual(
      expect.arrayContaining(["10.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16"]),
    );
    expect(render("networkpolicy.yaml", { ...VALUES, networkPolicy: { enabled: false } })).toEqual({});
  });

  it("has the operator's configuration and nothing of its own in it, and the version of the release", () => {
    const config = { store: "sqlite:/var/lib/broker/broker.sqlite" };
    const { data } = render("configmap.yaml", { ...VALUES, config });
    expect(JSON.parse(String((data as Json)["broker.yaml"]))).toEqual(config);
    // Helm merges it with the operator's: keys: of an example would stay beside a SQLite store.
    expect(VALUES["config"]).toEqual({});
    const { version } = manifest;
    expect(parse(chart.get("Chart.yaml") ?? "")).toMatchObject({ version, appVersion: version });
  });
});
