/**
 * A vendor as `/v1/vendors` and `/v1/vendors/{id}` show it. The list has what a platform chooses
 * by. A single vendor adds how the facts were checked, the reasons against the entry, and the
 * description of its placeholders.
 */
import { defined } from "@oauth-broker/oauth-core";
import type { PlaceholderSpecs } from "@oauth-broker/oauth-core/protocol";
import { capabilitiesOf, type EndpointCheck } from "@oauth-broker/oauth-core/registry";
import type { ClientConfig, VendorConfig } from "../config.ts";

type View = Record<string, unknown>;

/** @param client the caller, when it authenticated */
export function vendorSummary(entry: VendorConfig, client: ClientConfig | undefined): View {
  const { vendor, aliases, setup, placeholders, serverUrl, verification } = entry;
  return {
    id: vendor.id,
    name: vendor.name,
    ...defined({ aliases }),
    enabled: vendor.enabled,
    accepts_new_authorizations: vendor.acceptsNewAuthorizations,
    verification: verification?.status ?? "operator",
    capabilities: capabilitiesOf(entry),
    setup,
    placeholders: withoutDescriptions(placeholders),
    default_scopes: vendor.defaultScopes,
    ...(serverUrl === undefined ? {} : { server_url: serverUrl }),
    ...(client === undefined ? {} : { approved: isApproved(entry, client) }),
  };
}

export function vendorDetails(entry: VendorConfig, client: ClientConfig | undefined): View {
  const { placeholders, verification, sunsets } = entry;
  const ending = sunsets?.map(({ endsOn, what, urls, source }) => ({
    ends_on: endsOn,
    what,
    ...defined({ urls }),
    source,
  }));
  const summary = {
    ...vendorSummary(entry, client),
    placeholders,
    ...reasonsOff(entry),
    ...defined({ endpoints_from: entry.vendor.endpointsFrom, sunsets: ending }),
  };
  if (verification === undefined) return summary;
  const { checkedOn, checks, endpoints, quirks, recalled, sources } = verification;
  return {
    ...summary,
    checked_on: checkedOn,
    ...defined({ endpoint_checks: checks && Object.fromEntries(Object.entries(checks).map(wireCheck)) }),
    ...(endpoints === undefined
      ? {}
      : {
          confidence: endpoints.confidence,
          agreeing_sources: endpoints.agreeing,
          disagreements: endpoints.disagreements ?? [],
          ...defined({ superseded: endpoints.superseded }),
        }),
    ...defined({ quirks, recalled }),
    sources,
  };
}

/** An endpoint by its name in the configuration: `userinfo_endpoint`. */
function wireCheck([name, { checkedOn, source }]: [string, EndpointCheck]): [string, View] {
  return [name.replace("Endpoint", "_endpoint"), { checked_on: checkedOn, source }];
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

function isApproved({ vendor, setup }: Pick<VendorConfig, "vendor" | "setup">, client: ClientConfig): boolean {
  const isAllowed = client.vendors === undefined || client.vendors.includes(vendor.id);
  return isAllowed && (setup !== "vendor_approval" || client.approvedVendors.includes(vendor.id));
}
