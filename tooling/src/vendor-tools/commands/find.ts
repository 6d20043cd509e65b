/** `vendor find`: the vendors whose id, name or alias contains a word. Sends nothing. */
import { nearest } from "@oauth-broker/oauth-core";
import {
  capabilitiesOf,
  REGISTRY,
  type RegistryEntry,
  searchVendors,
  usualClientsOf,
} from "@oauth-broker/oauth-core/registry";
import type { Environment } from "../environment.ts";

/** @returns the exit code */
export function runFind(query: string, { print, tell }: Pick<Environment, "print" | "tell">): number {
  const found = searchVendors(REGISTRY.values(), query);
  const [only] = found;
  if (only === undefined) {
    const near = nearest(query, REGISTRY.keys());
    tell(`No vendor has '${query.slice(0, 64)}' in its name${near === undefined ? "" : `: did you mean ${near}?`}`);
    return 1;
  }
  const isNamed = found.length === 1 || only.vendor.id === query;
  if (isNamed) for (const line of details(only)) print(line);
  for (const entry of isNamed ? found.slice(1) : found) print(summary(entry));
  return 0;
}

function summary({ vendor, aliases = [], verification }: RegistryEntry): string {
  const state = vendor.enabled ? verification.status : `off: ${(verification.reasonsOff ?? []).join("; ")}`;
  const known = aliases.length === 0 ? "" : ` (also ${aliases.join(", ")})`;
  return `${vendor.id}  ${vendor.name}${known}  ${state}`;
}

function details(entry: RegistryEntry): string[] {
  const { vendor, placeholders, verification } = entry;
  const { pkce, ...others } = capabilitiesOf(entry);
  const able = Object.entries(others).flatMap(([name, has]) => (has ? [name] : []));
  const { confidence, superseded = [] } = verification.endpoints ?? {};
  return [
    summary(entry),
    `  authorization endpoint  ${vendor.authorizationEndpoint ?? "discovered"}`,
    `  token endpoint          ${vendor.tokenEndpoint ?? "discovered"}`,
    `  authentication          ${vendor.tokenEndpointAuthMethod}, PKCE ${pkce}`,
    `  capabilities            ${able.join(", ")}`,
    ...arrangements(entry),
    `  checked on              ${verification.checkedOn}${confidence === undefined ? "" : `, confidence ${confidence}`}`,
    ...Object.entries(verification.checks ?? {}).map(
      ([name, { checkedOn, source }]) => `  ${name} checked on ${checkedOn}: ${source}`,
    ),
    ...Object.entries(placeholders).map(([name, spec]) => `  {${name}}  ${placeholder(spec)}`),
    ...superseded.map((text) => `  not     ${text}`),
    ...verification.sources.map((source) => `  source  ${source}`),
  ];
}

/** Whose clients are good at a tenant, for which apps the entry is, and what comes before the first flow. */
function arrangements({ vendor, placeholders, clientsOf, generationOf, setupNote }: RegistryEntry): string[] {
  const of = clientsOf ?? usualClientsOf(vendor, placeholders);
  const whose = of === "vendor" ? "the vendor, good at every tenant" : "each tenant";
  return [
    ...(Object.keys(placeholders).length === 0 ? [] : [`  clients of              ${whose}`]),
    ...(generationOf === undefined ? [] : [`  beside                  ${generationOf.id}, for ${generationOf.apps}`]),
    ...(setupNote === undefined ? [] : [`  first                   ${setupNote.text} (${setupNote.source})`]),
  ];
}

function placeholder({
  description,
  values,
  suffix,
  default: usual,
  follows,
}: RegistryEntry["placeholders"][string]): string {
  return [
    description,
    ...(values === undefined ? [] : [`one of ${values.join(", ")}`]),
    ...(suffix === undefined ? [] : [`a host that ends in ${suffix.join(" or ")}`]),
    ...(follows === undefined ? [] : [`not given: follows from ${follows.placeholder}`]),
    ...(usual === undefined ? [] : [`default ${usual}`]),
  ]
    .filter((text) => text !== undefined)
    .join("; ");
}
