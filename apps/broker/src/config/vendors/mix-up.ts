/**
 * Vendors that share one callback path and whose answers do not say whose they are. One of them
 * that is malicious, or was broken into, can send its users on to another and is then given the
 * codes that other vendor issues (rfc9700#4.4). Vendors of the registry without `iss` are the
 * normal case, so what is told of is a vendor of the operator's own beside any other. Called by
 * build.ts.
 */
import { isAt, originsOf } from "./registrations.ts";
import type { VendorConfig } from "../types.ts";
import { choosesDomain } from "./placeholders.ts";

/**
 * @param own ids of vendors that the registry does not know, or whose issuer or endpoints the
 *   operator has written
 * @returns one line for each such vendor that could do it
 */
export function mixUpWarnings(vendors: ReadonlyMap<string, VendorConfig>, own: ReadonlySet<string>): string[] {
  const silent = [...vendors].filter(([, entry]) => usesSharedPath(entry) && entry.vendor.issRequired !== true);
  return silent.flatMap(([id, { vendor }]) => {
    if (!own.has(id) || !vendor.acceptsNewAuthorizations) return [];
    const origins = originsOf(vendor);
    const others = silent.filter(([, other]) => !isAt({ origins: originsOf(other.vendor) }, origins)).map(([it]) => it);
    if (others.length === 0) return [];
    return [
      `Vendor ${id} is one of your own and shares the callback with ${others.join(", ")}, and no answer of theirs has to carry iss: should it turn malicious, it can obtain codes that those vendors issue to its users. Set iss_required: true where its answers carry iss; otherwise keep it only if you trust it as much as them`,
    ];
  });
}

/**
 * With credentials of ours: at such a vendor our client is registered for the callback, and users
 * have agreed to it.
 */
function usesSharedPath({ vendor, credentials, placeholders }: VendorConfig): boolean {
  return vendor.enabled && credentials.length > 0 && !choosesDomain(vendor, placeholders);
}
