/**
 * Where a vendor's endpoints are, as far as the entry and the caller say: templates are filled, and
 * the caller's own endpoints pass the egress rules. Sends no request, so a refusal comes before
 * anything was sent.
 */
import { defined, OAuthError } from "@oauth-broker/oauth-core";
import {
  expandVendor,
  namesInHost,
  namesReservedParameter,
  requireFit,
  templatesOf,
  withDefaults,
} from "@oauth-broker/oauth-core/vendor-client";
import {
  expandTemplate,
  fillsRegistrableDomain,
  isListed,
  type ParameterNames,
  placeholderNames,
  requireKnownPlaceholders,
} from "@oauth-broker/oauth-core/protocol";
import { defineVendor, type Vendor } from "@oauth-broker/oauth-core/registry";
import { requireEgressUrl } from "@oauth-broker/oauth-core/egress";
import type { VendorConfig } from "../config.ts";
import type { Deps } from "../deps.ts";
import { specsFor } from "./tenants.ts";
import { CUSTOM_VENDOR, targetFields, type VendorTarget } from "./request.ts";

export type Overrides = Pick<VendorTarget, "authorizationEndpoint" | "tokenEndpoint">;

export interface VendorEndpoints {
  /**
   * The target as the caller gave it, with every placeholder filled, so that a default that changes
   * later does not affect it.
   */
  readonly target: VendorTarget;
  /** The entry, or the custom vendor, with its templates filled. */
  readonly base: Vendor;
  /**
   * Endpoints of the request that differ from the base's own, as far as those are known before
   * discovery. Each has passed the egress rules.
   */
  readonly overrides: Overrides;
  /** No value of the request chose a host of the base. */
  readonly isVouchedFor: boolean;
  /** A value of the request can choose the host that answers. */
  readonly fillsDomain: boolean;
  /** A value of the request is part of the issuer, so that it chose whose metadata is used. */
  readonly fillsIssuer: boolean;
}

export type EndpointDeps = Pick<Deps, "issuer" | "allowLoopback">;

/**
 * The endpoints of a vendor that the request describes.
 *
 * @throws OAuthError as endpointsOfEntry
 */
export function endpointsOfRequest(target: VendorTarget, deps: EndpointDeps): VendorEndpoints {
  const { placeholders = {}, issuer, authorizationEndpoint, tokenEndpoint } = target;
  const given = { issuer, authorizationEndpoint, tokenEndpoint };
  const templates = Object.values(given).filter((template) => template !== undefined);
  requireKnownPlaceholders(placeholders, templates, {});
  const own = (template: string | undefined) =>
    template === undefined ? undefined : requireForeignUrl(expandTemplate(template, placeholders, {}), deps);
  const base = defineVendor({
    id: CUSTOM_VENDOR,
    name: "Custom vendor",
    ...defined({
      issuer: own(issuer),
      authorizationEndpoint: own(authorizationEndpoint),
      tokenEndpoint: own(tokenEndpoint),
    }),
  });
  requireNoReservedParameter(base.authorizationEndpoint, base);
  return { target, base, overrides: {}, isVouchedFor: false, fillsDomain: true, fillsIssuer: true };
}

/**
 * @throws OAuthError invalid_request naming a placeholder that is missing, unknown or does not fit,
 *   or for a forbidden endpoint
 */
export function endpointsOfEntry(target: VendorTarget, entry: VendorConfig, deps: EndpointDeps): VendorEndpoints {
  const { vendor } = entry;
  const { issuer, placeholders = {}, authorizationEndpoint, tokenEndpoint } = target;
  const specs = specsFor(entry, placeholders);
  //= bar#XA-3
  if (issuer !== undefined && issuer !== vendor.issuer) {
    throw new OAuthError("unauthorized_client", "issuer names another vendor: leave vendor out", {
      reason: "override_not_allowed",
    });
  }
  const overridden = [authorizationEndpoint, tokenEndpoint].filter((template) => template !== undefined);
  const ofEntry = templatesOf(vendor, specs);
  const templates = [...ofEntry, ...overridden];
  requireKnownPlaceholders(placeholders, templates, specs);
  const values = withDefaults(placeholders, specs);
  requireFit(values, templates, specs);
  const base = expandVendor(vendor, values, specs);
  const own = (template: string | undefined, known: string | undefined) => {
    if (template === undefined) return undefined;
    const url = expandTemplate(template, values, specs);
    return url === known ? undefined : requireForeignUrl(url, deps);
  };
  const isChosen = (name: string) => !isListed(specs[name]) && values[name] !== specs[name]?.default;
  const chosen = ofEntry.filter((template) => namesInHost(template).some(isChosen));
  const issuerTemplate = ofEntry.find((template) => template === vendor.issuer);
  for (const template of chosen) requireForeignUrl(expandTemplate(template, values, specs), deps);
  const overrides = defined({
    authorizationEndpoint: own(authorizationEndpoint, base.authorizationEndpoint),
    tokenEndpoint: own(tokenEndpoint, base.tokenEndpoint),
  });
  requireNoReservedParameter(overrides.authorizationEndpoint, vendor);
  return {
    // The entry's own id, if the caller used an alias.
    target: { vendor: vendor.id, ...targetFields({ ...target, placeholders: values }) },
    base,
    overrides,
    isVouchedFor: chosen.length === 0,
    fillsDomain: ofEntry.some((template) => fillsRegistrableDomain(template, specs)),
    fillsIssuer: issuerTemplate !== undefined && placeholderNames(issuerTemplate).some(isChosen),
  };
}

/**
 * The query of a page may be the caller's, its client and its redirect URI may not: a vendor that
 * takes the first of two values would see another flow than we do.
 *
 * @throws OAuthError invalid_request
 */
function requireNoReservedParameter(authorizationEndpoint: string | undefined, vendor: ParameterNames): void {
  //= bar#ST-4
  if (authorizationEndpoint === undefined || !namesReservedParameter(authorizationEndpoint, vendor)) return;
  throw new OAuthError("invalid_request", "authorization_endpoint holds a reserved parameter", {
    reason: "reserved_parameter",
  });
}

/**
 * Checks a URL of a request: https on port 443 of a public host other than the broker. The
 * operator's private networks do not apply here.
 *
 * @throws OAuthError invalid_request
 */
//= bar#EG-7
function requireForeignUrl(url: string, { issuer, allowLoopback }: EndpointDeps): string {
  const { origin } = requireEgressUrl(url, { allowLoopback });
  if (origin !== new URL(issuer).origin) return url;
  throw new OAuthError("invalid_request", "An endpoint must not be one of this broker", {
    reason: "endpoint_forbidden",
  });
}
