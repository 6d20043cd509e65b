/**
 * A vendor as `/v1/vendors` and `/v1/vendors/{id}` show it. The list has what a platform chooses
 * by. A single vendor adds how the facts were checked, the reasons against the entry, and the
 * description of its placeholders.
 */
import { defined } from "@oauth-broker/oauth-core";
import type { PlaceholderSpecs } from "@oauth-broker/oauth-core/protocol";
import {
  capabilitiesOf,
  type FactCheck,
  oncePerObject,
  usualClientsOf,
  wireName,
} from "@oauth-broker/oauth-core/registry";
import type { ClientConfig, VendorConfig } from "../config.ts";
import { mayStart } from "../vendor-choice/registrations.ts";

type View = Record<string, unknown>;

/** Hundreds of entries, the same for every caller but for `approved`. */
const textOf = oncePerObject((entry: VendorConfig): string => JSON.stringify(vendorSummary(entry)));

/**
 * @param entries as of now: the text of each object is made once
 * @param client the caller, when it authenticated
 * @returns the list as JSON
 */
export function vendorList(entries: readonly VendorConfig[], client: ClientConfig | undefined): string {
  const shown = entries.map((entry) => {
    const text = textOf(entry);
    return client === undefined ? text : `${text.slice(0, -1)},"approved":${mayStart(client, entry)}}`;
  });
  return `[${shown.join(",")}]`;
}

export function vendorSummary(entry: VendorConfig): View {
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
    ...defined({ server_url: serverUrl }),
  };
}

/** @param client the caller, when it authenticated */
export function vendorDetails(entry: VendorConfig, client: ClientConfig | undefined): View {
  const { placeholders, verification, sunsets, setupNote } = entry;
  const ending = sunsets?.map(({ endsOn, ...sunset }) => ({ ends_on: endsOn, ...sunset }));
  const summary = {
    ...vendorSummary(entry),
    placeholders,
    ...reasonsOff(entry),
    ...defined({ approved: client && mayStart(client, entry), sunsets: ending, setup_note: setupNote }),
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
