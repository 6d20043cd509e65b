/** The proof as text, and whether it is good enough. */
import { NOT_BEHAVIOUR } from "@oauth-broker/simulators/entry-vendor";
import type { KindCount, Proof } from "./prove.ts";

/** Wrong facts that no step notices yet: vendor, fact and what is wrong. */
const KNOWN_GAPS: readonly string[] = [
  'authentik tokenEndpointAuthMethod: "none"',
  "bitrix24 callbackParams: without member_id",
  'blackboard tokenEndpointAuthMethod: "none"',
  "box-mcp serverUrl: path",
  "facebook revocation: goneErrors",
  "granola-mcp serverUrl: path",
  "intercom account: headers",
  'keycloak tokenEndpointAuthMethod: "none"',
  'logto tokenEndpointAuthMethod: "none"',
  'looker tokenEndpointAuthMethod: "client_secret_basic"',
  'looker tokenEndpointAuthMethod: "client_secret_post"',
  "miro-mcp serverUrl: path",
  'ory-hydra tokenEndpointAuthMethod: "none"',
  "socket-mcp serverUrl: path",
  "teamwork account: endpoint host",
  "tiktok-ads tokenResult: member",
  "tiktok-ads tokenResult: removed",
  "wrike account: endpoint host",
];

/** @returns the outcome in lines; the last says what it does not prove */
export function report(proof: Proof): string {
  const { vendors, failures, kinds, steps, idle } = proof;
  const failed = failures.flatMap(({ vendor, step, why, refused }) => [
    `FAIL ${vendor}, ${step}: ${why}`,
    ...refused.map((line) => `     the simulator refused: ${line}`),
  ]);
  const rows = [...kinds].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([kind, count]) => kindLine(kind, count));
  const all = allOf(kinds);
  const { unknown, gone } = gapsOf(proof);
  const missed = all.missed.map((name) => `  not noticed${unknown.includes(name) ? "" : ", as known"}: ${name}`);
  const mutations =
    kinds.size === 0
      ? []
      : [
          "",
          "Wrong facts that some step notices, by kind:",
          ...rows,
          ...missed,
          ...gone.map((name) => `  noticed, and in the list of known gaps: ${name}`),
          kindLine("all", all),
          stepLine(steps),
          ...idle.map((fact) => `  changes nothing: ${fact}`),
          ...notBehaviour(),
        ];
  return [
    ...failed,
    `${vendors.length - failures.length} of ${vendors.length} vendors pass`,
    ...mutations,
    "",
    "This shows that the broker does what the entries say, not that the entries are true.",
  ].join("\n");
}

function kindLine(kind: string, count: KindCount): string {
  const { total } = count;
  const noticed = total - count.missed.length;
  const share = total === 0 ? 0 : noticed / total;
  return `  ${kind.padEnd(24)}${String(noticed).padStart(5)} of ${String(total).padStart(5)}  ${(share * 100).toFixed(1).padStart(5)} %`;
}

function stepLine(steps: Proof["steps"]): string {
  const counts = [...steps].toSorted(([, a], [, b]) => b - a).map(([step, count]) => `${step} ${count}`);
  return `  noticed by the steps: ${counts.join(", ")}`;
}

function notBehaviour(): string[] {
  return Object.entries(NOT_BEHAVIOUR).map(([fact, why]) => `  not a fact of behaviour: ${fact} (${why})`);
}

function allOf(kinds: Proof["kinds"]): KindCount {
  const counts = [...kinds.values()];
  return { total: counts.reduce((sum, { total }) => sum + total, 0), missed: counts.flatMap(({ missed }) => missed) };
}

/** What no step noticed beyond the known gaps of these vendors, and which of those some step did notice. */
function gapsOf({ vendors, kinds }: Proof) {
  const { missed } = allOf(kinds);
  const known = kinds.size === 0 ? [] : KNOWN_GAPS.filter((name) => vendors.includes(name.split(" ", 1)[0] ?? ""));
  return {
    unknown: missed.filter((name) => !known.includes(name)),
    gone: known.filter((name) => !missed.includes(name)),
  };
}

/** Every vendor passes, and every wrong fact is noticed but for the known gaps, which are none too many. */
export function isGoodEnough(proof: Proof): boolean {
  const { unknown, gone } = gapsOf(proof);
  return [...proof.failures, ...unknown, ...gone].length === 0;
}
