/**
 * A vendor as `/v1/vendors` and `/v1/vendors/{id}` show it. The list has what a platform chooses
 * by. A single vendor adds how the facts were checked, the reasons against the entry, and the
 * description of its placeholders.
 */
import { defined } from "@oauth-broker/oauth-core";
import type { PlaceholderSpecs } from "@oauth-broker/oauth-core/protocol";
import { capabilitiesOf, type FactCheck, usualClientsOf, wireName } from "@oauth-broker/oauth-core/registry";
import type { ClientConfig, VendorConfig } from "../config.ts";

type View = Record<string, unknown>;

/** A list of vendors, as text: hundreds of entries, the same for every caller but for `approved`. */
export interface VendorList {
  /** @param client the caller, when it authenticated */
  of(entries: Iterable<VendorConfig>, client: ClientConfig | undefined): string;
}

/** @param entryNow an entry as of now; called once for each entry until `version` changes */
export function createVendorList(entryNow: (entry: VendorConfig) => VendorConfig, version: () => number): VendorList {
  let texts = new Map<VendorConfig, string>();
  let made = version();
  const textOf = (entry: VendorConfig): string => {
    const before = texts.get(entry);
    if (before !== undefined) return before;
    const text = JSON.stringify(vendorSummary(entryNow(entry), undefined));
    texts.set(entry, text);
    return text;
  };
  return {
    of: (entries, client) => {
      if (made !== version()) [texts, made] = [new Map(), version()];
      const approves = client && approvalsOf(client);
      const shown = Array.from(entries, (entry) => {
        const text = textOf(entry);
        return approves === undefined ? text : `${text.slice(0, -1)},"approved":${approves(entry)}}`;
      });
      return `[${shown.join(",")}]`;
    },
  };
}

/** @param client the caller, when it authenticated */
export function vendorSummary(entry: VendorConfig, client: ClientConfig | undefined): View {
  const { vendor, aliases, generationOf, setup, placeholders, serverUrl, verification } = entry;
  return {
    id: vendor.id,
    name: vendor.name,
    ...defined({ aliases, generation_of: generationOf }),
    enabled: vendor.enabled,
    accepts_new_authorizations: vendor.acceptsNewAuthorizations,
    verification: verification?.status ?? "operator",
    capabilities: capabilitiesOf(entry),
    setup,
    clients_of: entry.clientsOf ?? usualClientsOf(vendor, placeholders),
    placeholders: withoutDescriptions(placeholders),
    default_scopes: vendor.defaultScopes,
    ...(serverUrl === undefined ? {} : { server_url: serverUrl }),
    ...(client === undefined ? {} : { approved: approvalsOf(client)(entry) }),
  };
}

export function vendorDetails(entry: VendorConfig, client: ClientConfig | undefined): View {
  const { placeholders, verification, sunsets, setupNote } = entry;
  const ending = sunsets?.map(({ endsOn, ...sunset }) => ({ ends_on: endsOn, ...sunset }));
  const summary = {
    ...vendorSummary(entry, client),
    placeholders,
    ...reasonsOff(entry),
    ...defined({ sunsets: ending, setup_note: setupNote }),
  };
  if (verification === undefined) return summary;
  const { checkedOn, checks, endpoints, quirks, recalled, sources } = verification;
  const disagreements = endpoints === undefined ? undefined : (endpoints.disagreements ?? []);
  return {
    ...summary,
    checked_on: checkedOn,
    ...wireChecks(Object.entries(checks ?? {})),
    ...defined({
      confidence: endpoints?.confidence,
      agreeing_sources: endpoints?.agreeing,
      disagreements,
      superseded: endpoints?.superseded,
      quirks,
      recalled,
    }),
    sources,
  };
}

/** Facts by their names in the configuration (`userinfo_endpoint`): the endpoints, then the others. */
function wireChecks(checks: readonly (readonly [string, FactCheck])[]): View {
  const wire: View = { endpoint_checks: undefined, fact_checks: undefined };
  for (const [name, { checkedOn, source }] of checks) {
    const group = wireName(name).endsWith("_endpoint") ? "endpoint_checks" : "fact_checks";
    wire[group] = { ...(wire[group] as View | undefined), [wireName(name)]: { checked_on: checkedOn, source } };
  }
  return defined(wire);
}

/** Shows the registry's reasons also when an operator turned the entry on. */
function reasonsOff({ vendor, verification }: VendorConfig): View {
  const reasons = verification?.reasonsOff ?? [];
  if (reasons.length > 0) return { reasons_off: reasons };
  return vendor.enabled ? {} : { reasons_off: ["the operator of this broker turned it off"] };
}

function withoutDescriptions(placeholders: PlaceholderSpecs): PlaceholderSpecs {
  return Object.fromEntries(
    Object.entries(placeholders).map(([name, spec]) => {
      const { description: _, ...others } = spec;
      return [name, others] as const;
    }),
  );
}

/** @returns whether the client may use an entry, and has the approval that it needs */
function approvalsOf(client: ClientConfig): (entry: Pick<VendorConfig, "vendor" | "setup">) => boolean {
  const allowed = client.vendors && new Set(client.vendors);
  const approved = new Set(client.approvedVendors);
  return ({ vendor: { id }, setup }) =>
    (allowed === undefined || allowed.has(id)) && (setup !== "vendor_approval" || approved.has(id));
}
