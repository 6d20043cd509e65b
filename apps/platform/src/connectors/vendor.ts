/** The vendor that the settings of a connector describe: by registry id, by issuer, or by its URLs. */
import { defineVendor, directVendor, type DirectVendorOptions } from "@oauth-broker/broker-client/direct";
import { defined, nearest, OAuthError } from "@oauth-broker/oauth-core";
import { checkVendorId, type Problem } from "@oauth-broker/service/configuration";
import { expandTemplate } from "@oauth-broker/oauth-core/protocol";
import { REGISTRY } from "@oauth-broker/oauth-core/registry";
import { refusal } from "../refusal.ts";
import type { ConnectorSettings } from "./connector.ts";

type VendorSettings = Pick<ConnectorSettings, "vendorOrIssuer" | "authorizationUrl" | "tokenUrl" | "placeholders">;

const CUSTOM = { id: "custom", name: "Custom vendor" } as const;

/**
 * Whether a vendor is in the registry, or possibly defined by the broker's operator; anything else
 * is an issuer.
 */
export function isVendorId(vendorOrIssuer: string): boolean {
  return REGISTRY.has(vendorOrIssuer) || checkVendorId(vendorOrIssuer) === undefined;
}

/**
 * An empty URL comes from the vendor's entry, or from the metadata of its issuer.
 *
 * @throws OAuthError invalid_request, reason `endpoints_missing`
 */
export function vendorOfSettings(settings: VendorSettings): Omit<DirectVendorOptions, "credentials"> {
  const { vendorOrIssuer, authorizationUrl, tokenUrl, placeholders } = settings;
  const endpoints = defined({ authorizationEndpoint: authorizationUrl, tokenEndpoint: tokenUrl });
  if (vendorOrIssuer === undefined) {
    if (authorizationUrl !== undefined && tokenUrl !== undefined)
      return { vendor: defineVendor({ ...CUSTOM, ...endpoints }), placeholders };
    throw refusal(
      "endpoints_missing",
      "This connector names no vendor. An administrator has to enter both URLs, a vendor or an issuer under Settings",
    );
  }
  if (isVendorId(vendorOrIssuer)) return { vendor: vendorOrIssuer, endpoints, placeholders };
  // Filled here: `direct` has placeholders for the endpoints alone.
  const filled = (template: string): string => expandTemplate(template, placeholders, {});
  const own = Object.fromEntries(Object.entries(endpoints).map(([name, template]) => [name, filled(template)]));
  return { vendor: defineVendor({ ...CUSTOM, issuer: filled(vendorOrIssuer) }), endpoints: own };
}

/**
 * What a vendor of the registry lacks or does not take, before a user meets it.
 *
 * @returns undefined if a flow could start, and for an issuer, whose metadata decides
 */
export function vendorProblem(settings: VendorSettings & Pick<ConnectorSettings, "clientId">): Problem | undefined {
  const { vendorOrIssuer, clientId } = settings;
  if (vendorOrIssuer === undefined || clientId === undefined || !isVendorId(vendorOrIssuer)) return undefined;
  if (!REGISTRY.has(vendorOrIssuer)) {
    const meant = nearest(vendorOrIssuer, REGISTRY.keys());
    const problem = `is neither a vendor of the registry${meant === undefined ? "" : ` (did you mean ${meant}?)`} nor the URL of an issuer`;
    return { path: "vendorOrIssuer", problem };
  }
  try {
    directVendor({ ...vendorOfSettings(settings), credentials: { clientId } });
    return undefined;
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    const path = error.extras.reason === "vendor_unusable" ? "vendorOrIssuer" : "placeholders";
    return { path, problem: `cannot be used: ${error.description}` };
  }
}
