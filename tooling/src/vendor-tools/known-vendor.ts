/**
 * A vendor of the registry as a tool calls it: its templates filled by the broker's own rules, and
 * its endpoints replaced by the user's options. Used by probe.ts and try.ts.
 */
import { expandVendor, requireFit, templatesOf, withDefaults } from "@oauth-broker/oauth-core/vendor-client";
import { placeholderNames, requireKnownPlaceholders } from "@oauth-broker/oauth-core/protocol";
import { FIELDS, REGISTRY, type RegistryEntry, type Vendor, wireName } from "@oauth-broker/oauth-core/registry";
import { atEndpoints } from "@oauth-broker/simulators/fixtures";
import { explain, refusal, requireOptionUrl } from "./refusal.ts";

export interface Choice {
  readonly id: string;
  readonly placeholders: Readonly<Record<string, string>>;
  /** `token_endpoint` and the like → URL. */
  readonly endpoints: Readonly<Record<string, string>>;
  readonly loopback: boolean;
}

export interface KnownVendor {
  readonly entry: RegistryEntry;
  readonly vendor: Vendor;
}

export function firstClassIds(): string[] {
  return [...REGISTRY.values()]
    .filter(({ verification }) => verification.status === "first-class")
    .map(({ vendor }) => vendor.id);
}

/** @throws Refusal naming what is unknown, and everything that is missing */
export function knownVendor({ id, placeholders, endpoints, loopback }: Choice): KnownVendor {
  const entry = REGISTRY.get(id);
  if (entry === undefined) throw refusal(unknownVendor(id));
  requireEndpoints(endpoints, loopback);
  const vendor = atEndpoints(entry.vendor, endpoints);
  const values = withDefaults(placeholders, entry.placeholders);
  const templates = templatesOf(vendor, entry.placeholders);
  const names = templates.flatMap((template) => placeholderNames(template, entry.placeholders));
  const missing = [...new Set(names)].filter((name) => !Object.hasOwn(values, name));
  if (missing.length > 0) {
    const options = missing.map((name) => `--placeholder ${name}=VALUE`).join(" ");
    throw refusal(`${id} has endpoints that depend on the customer. Give ${options}`);
  }
  try {
    requireKnownPlaceholders(placeholders, templates, entry.placeholders);
    requireFit(values, templates, entry.placeholders);
    return { entry, vendor: expandVendor(vendor, values, entry.placeholders) };
  } catch (error) {
    throw refusal(`${id}: ${explain(error)}`);
  }
}

function unknownVendor(id: string): string {
  const like = [...REGISTRY.keys()].filter((known) => id.length > 1 && known.includes(id)).slice(0, 5);
  const hint = like.length === 0 ? "docs/vendors.md lists them" : `there is ${like.join(", ")}`;
  return `The vendor ${id.slice(0, 64)} does not exist: ${hint}`;
}

const ENDPOINTS: readonly string[] = Object.entries(FIELDS).flatMap(([name, { is }]) =>
  is === "url" ? [wireName(name)] : [],
);

function requireEndpoints(endpoints: Readonly<Record<string, string>>, allowLoopback: boolean): void {
  for (const [name, url] of Object.entries(endpoints)) {
    if (!ENDPOINTS.includes(name)) throw refusal(`--endpoint ${name.slice(0, 40)}: there is ${ENDPOINTS.join(", ")}`);
    requireOptionUrl(`--endpoint ${name}`, url.replaceAll(/\{\w+\}/g, "x"), allowLoopback);
  }
}
