/**
 * The one vendor of a direct client: an entry of the registry, an issuer, or the caller's own
 * entry, with this deployment as its client.
 */
import { defined, errorText, OAuthError, Secret } from "@oauth-broker/oauth-core";
import {
  expandVendor,
  requireFit,
  templatesOf,
  withClientId,
  withDefaults,
} from "@oauth-broker/oauth-core/vendor-client";
import { registrableDomainOf } from "@oauth-broker/oauth-core/egress";
import { type PlaceholderSpecs, requireKnownPlaceholders } from "@oauth-broker/oauth-core/protocol";
import {
  defineVendor,
  FIELDS,
  REGISTRY,
  type Vendor,
  type VendorCredentials,
  withOperatorsFields,
  withoutIssuer,
  withSecret,
} from "@oauth-broker/oauth-core/registry";
import type { VendorTarget } from "../types.ts";

/** The vendor, by registry id, by issuer or as an entry, and this deployment's client there. */
export interface DirectVendorOptions {
  /**
   * An id of the registry; or the issuer of an OpenID provider, or of any server with RFC 8414
   * metadata; or the result of `defineVendor`.
   */
  readonly vendor: string | { readonly issuer: string } | Vendor;
  /**
   * Replace the vendor's own: a regional host, a gateway. They may hold {placeholders}, the
   * vendor's and others. At another registrable domain than the vendor's, its issuer and keys are
   * dropped, and at another one for the token endpoint its further endpoints are, because they must
   * not receive tokens of the new host.
   */
  readonly endpoints?: VendorTarget["endpoints"];
  /** Values for the {placeholders} in the endpoints. */
  readonly placeholders?: Readonly<Record<string, string>>;
  /** This deployment's own client at the vendor. */
  readonly credentials: { readonly clientId: string; /** Absent: a public client. */ readonly clientSecret?: string };
}

/** What the options of a direct client come to. */
export interface DirectVendor {
  /** The entry with the caller's endpoints, its {placeholders} filled; not yet discovered. */
  readonly vendor: Vendor;
  readonly credentials: VendorCredentials;
}

/**
 * Resolves the options without opening a connection or sending a request, as `direct` does first.
 *
 * @throws OAuthError invalid_request: reason `vendor_unusable` for a vendor that is unknown, off,
 *   or requires what a direct client cannot do; without a reason for placeholders that do not fit
 */
export function directVendor(options: DirectVendorOptions): DirectVendor {
  const { placeholders = {}, endpoints = {}, credentials } = options;
  const { clientId, clientSecret } = credentials;
  if (clientSecret === "") throw unusable("The client secret is empty: leave it out for a public client");
  const { entry, specs } = entryOf(options);
  if (entry.clientSecret !== undefined) {
    throw unusable(`${entry.id} requires a client secret that is signed for each request: use the broker`);
  }
  const misplaced = entry.account && FIELDS.account.check(entry.account);
  if (misplaced !== undefined) throw unusable(`The account of ${entry.id} ${misplaced}`);
  const located = atOwnEndpoints(entry, defined(endpoints));
  const templates = templatesOf(located, specs);
  requireKnownPlaceholders(placeholders, templates, specs);
  const values = withDefaults(placeholders, specs);
  requireFit(values, templates, specs);
  const vendor = withClientId(expandVendor(located, values, specs), clientId, specs);
  return {
    vendor: clientSecret === undefined ? vendor : withSecret(vendor),
    credentials: {
      id: "direct",
      source: "environment",
      clientId,
      ...defined({ clientSecret: Secret.of(clientSecret) }),
    },
  };
}

function entryOf({ vendor: named, endpoints }: DirectVendorOptions): { entry: Vendor; specs: PlaceholderSpecs } {
  if (typeof named !== "string") {
    const own = "id" in named ? named : defineVendor({ id: "custom", name: new URL(named.issuer).host, ...named });
    return { entry: own, specs: {} };
  }
  const known = REGISTRY.get(named);
  if (known === undefined) throw unusable(`${errorText(named)} is not a vendor of the registry`);
  const { reasonsOff = ["no reason given"] } = known.verification;
  const isLocated = endpoints?.authorizationEndpoint !== undefined && endpoints.tokenEndpoint !== undefined;
  if (!known.vendor.enabled && !isLocated)
    throw unusable(`${known.vendor.id} is off in the registry: ${errorText(reasonsOff.join("; "))}`);
  return { entry: known.vendor, specs: known.placeholders };
}

function unusable(description: string): OAuthError {
  return new OAuthError("invalid_request", description, { reason: "vendor_unusable" });
}

/**
 * Options for the issuer and the keys of another party do not exist, so the vendor's are dropped.
 */
function atOwnEndpoints(entry: Vendor, endpoints: NonNullable<VendorTarget["endpoints"]>): Vendor {
  const { vendor } = withOperatorsFields(entry, endpoints);
  const isElsewhere = (["authorizationEndpoint", "tokenEndpoint"] as const).some((name) => {
    const [former, own] = [entry[name], endpoints[name]];
    return former !== undefined && own !== undefined && registrableDomainOf(former) !== registrableDomainOf(own);
  });
  //= bar#BY-4
  return isElsewhere ? withoutIssuer(vendor) : vendor;
}
