/**
 * A registry vendor whose token endpoint the operator has moved: what the registry says of its further endpoints is about the place
 * that was left, and tokens of the new place do not go there (docs/decisions/0016). Called by vendors.ts.
 */
import { siteOf, type Vendor } from "@oauth-broker/oauth-core";
import type { ParsedVendor } from "../schema/vendor.ts";

/**
 * Refreshing follows the token endpoint; revocation stays only where it is the same party's.
 *
 * @param vendor the registry's, with the operator's fields over it
 * @param known as the registry has it
 * @param warnings is added to
 */
//= bar#BY-4
export function leaveBehind(
  vendor: Vendor,
  parsed: ParsedVendor,
  known: Vendor | undefined,
  warnings: string[],
): Vendor {
  const { token_endpoint: moved } = parsed;
  if (moved === undefined || known?.tokenEndpoint === undefined || moved === known.tokenEndpoint) return vendor;
  const { refreshEndpoint, revocationEndpoint, ...rest } = vendor;
  const isForeign =
    parsed.revocation_endpoint === undefined &&
    revocationEndpoint !== undefined &&
    siteOf(revocationEndpoint) !== siteOf(moved);
  if (isForeign) {
    warnings.push(
      `Vendor ${vendor.id} has a token_endpoint of yours and no revocation_endpoint: the registry's is at another domain and gets none of these tokens, so revocation answers unsupported_token_type`,
    );
  }
  return {
    ...rest,
    ...(parsed.refresh_endpoint === undefined || refreshEndpoint === undefined ? {} : { refreshEndpoint }),
    ...(isForeign || revocationEndpoint === undefined ? {} : { revocationEndpoint }),
  };
}
