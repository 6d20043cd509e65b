/**
 * The one vendor of a direct client: an entry of the registry, an issuer, or an entry of the
 * caller's own, with this deployment as its client.
 */
import { Secret } from "@oauth-broker/oauth-core";
import { expandVendor, requireFit, templatesOf, withClientId, withDefaults } from "@oauth-broker/oauth-core/client";
import { type PlaceholderSpecs, requireKnownPlaceholders } from "@oauth-broker/oauth-core/protocol";
import { defineVendor, REGISTRY, type Vendor, type VendorCredentials } from "@oauth-broker/oauth-core/registry";

/** The vendor, by registry id, by issuer or as an entry, and this deployment's client there. */
export interface DirectVendorOptions {
  /**
   * An id of the registry; or the issuer of an OpenID provider, or of any server with RFC 8414
   * metadata; or the result of `defineVendor`.
   */
  readonly vendor: string | { readonly issuer: string } | Vendor;
  /** Values for the {placeholders} of a registry vendor's endpoints. */
  readonly placeholders?: Readonly<Record<string, string>>;
  /** This deployment's own client at the vendor. */
  readonly credentials: { readonly clientId: string; /** Absent: a public client. */ readonly clientSecret?: string };
}

export interface DirectVendor {
  readonly vendor: Vendor;
  readonly credentials: VendorCredentials;
}

/**
 * @throws Error for a vendor that is unknown, off, or requires what a direct client cannot do;
 *   OAuthError for placeholders that do not fit
 */
export function directVendor({ vendor: named, placeholders = {}, credentials }: DirectVendorOptions): DirectVendor {
  const { clientId, clientSecret } = credentials;
  const { entry, specs } = entryOf(named);
  if (entry.clientSecret !== undefined) {
    throw new Error(`${entry.id} requires a client secret that is signed for each request: use the broker`);
  }
  const templates = templatesOf(entry, specs);
  requireKnownPlaceholders(placeholders, templates, specs);
  const values = withDefaults(placeholders, specs);
  requireFit(values, templates, specs);
  const vendor = withClientId(expandVendor(entry, values, specs), clientId, specs);
  return {
    // A given secret is used, even if the vendor's clients need none.
    vendor:
      clientSecret !== undefined && vendor.tokenEndpointAuthMethod === "none"
        ? { ...vendor, tokenEndpointAuthMethod: "client_secret_basic" }
        : vendor,
    credentials: {
      id: "direct",
      source: "environment",
      clientId,
      ...(clientSecret === undefined ? {} : { clientSecret: new Secret(clientSecret) }),
    },
  };
}

function entryOf(named: DirectVendorOptions["vendor"]): { entry: Vendor; specs: PlaceholderSpecs } {
  if (typeof named !== "string") {
    const own = "id" in named ? named : defineVendor({ id: "custom", name: new URL(named.issuer).host, ...named });
    return { entry: own, specs: {} };
  }
  const known = REGISTRY.get(named);
  if (known === undefined) throw new Error(`${named} is not a vendor of the registry`);
  if (!known.vendor.enabled) {
    throw new Error(
      `${named} is off in the registry: ${known.verification.reasonsOff?.join("; ") ?? "no reason given"}`,
    );
  }
  return { entry: known.vendor, specs: known.placeholders };
}
