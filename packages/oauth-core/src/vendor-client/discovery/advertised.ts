/**
 * Metadata of a vendor whose endpoints the operator configured: what it says about `iss` and PKCE counts, and that it is
 * there is no condition. Between discover.ts, which asks, and its cache of documents.
 */
import type { Clock } from "../../ports.ts";
import { defined } from "../../mechanics/defined.ts";
import { OAuthError } from "../../protocol/errors.ts";
import { createExpiringMap } from "../../mechanics/expiring-map.ts";
import type { Vendor } from "../../vendors/vendor.ts";
import type { VendorMetadata } from "./document.ts";
import type { RefreshingCache } from "./cache.ts";

export interface AdvertisedDeps {
  readonly documents: RefreshingCache<VendorMetadata>;
  readonly now: Clock;
}

/** A flow waits for it no longer than this; the endpoints are known without it. */
const PATIENCE_MILLISECONDS = 2_000;
/** After a failure nobody asks, and so nobody waits, for this long. */
const QUIET_SECONDS = 60;
const MAX_ISSUERS = 256;

/**
 * @returns per issuer its metadata cut to what binds a configured vendor, the same object while the document is the same;
 *   undefined when there is none to be had
 * @throws OAuthError vendor_response_invalid when the document names another issuer: then the entry is wrong, or somebody lies
 */
export function createAdvertised({
  documents,
  now,
}: AdvertisedDeps): (issuer: string) => Promise<VendorMetadata | undefined> {
  const quiet = createExpiringMap<true>(MAX_ISSUERS, now);
  const cut = new WeakMap<VendorMetadata, VendorMetadata>();

  const cutOf = (document: VendorMetadata): VendorMetadata => {
    const known = cut.get(document);
    if (known !== undefined) return known;
    const { advertisesIss, codeChallengeMethods } = document;
    const made = { advertisesIss, ...defined({ codeChallengeMethods }) };
    cut.set(document, made);
    return made;
  };

  return async (issuer) => {
    if (quiet.get(issuer)) return undefined;
    try {
      return cutOf(await documents.get(issuer, () => AbortSignal.timeout(PATIENCE_MILLISECONDS)));
    } catch (error) {
      //= bar#DI-1
      if (!(error instanceof OAuthError) || error.extras.reason === "issuer_mismatch") throw error;
      quiet.set(issuer, true, now() + QUIET_SECONDS);
      return undefined;
    }
  };
}

/** Where the entry says itself whether `iss` is required nothing is asked; an issuer with a placeholder has no place to ask. */
export function hasAdvertised(vendor: Vendor): vendor is Vendor & { readonly issuer: string } {
  return vendor.issuer !== undefined && vendor.issRequired === undefined && !vendor.issuer.includes("{");
}
