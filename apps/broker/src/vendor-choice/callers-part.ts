/**
 * What of a vendor the caller names, and what that forbids: the broker's credentials, and a broker
 * that reaches vendors through a proxy. Asked before anything is sent, and again after discovery.
 */
import { OAuthError } from "@oauth-broker/oauth-core";
import type { VendorEndpoints } from "./endpoints.ts";
import { CUSTOM_VENDOR } from "./request.ts";

/** What of a vendor a caller names, and the entry does not state: such a vendor is tier 3. */
export type CallersPart = "vendor" | "placeholder" | "endpoint" | "metadata";

/**
 * What of the endpoints is known to be the caller's before anything is sent. An endpoint of the
 * request at the issuer of an entry without its own may still be what discovery finds.
 */
export function callersPartOf({ base, overrides, fillsDomain }: VendorEndpoints): CallersPart | undefined {
  if (fillsDomain) return base.id === CUSTOM_VENDOR ? "vendor" : "placeholder";
  const issuer = URL.parse(base.issuer ?? "")?.origin;
  const isForeign = (["authorizationEndpoint", "tokenEndpoint"] as const).some((name) => {
    const url = overrides[name];
    return url !== undefined && !(base[name] === undefined && new URL(url).origin === issuer);
  });
  return isForeign ? "endpoint" : undefined;
}

const WHY = {
  vendor: "This vendor needs credentials of your own: vendor_client_id",
  placeholder: "This vendor needs credentials of your own: vendor_client_id",
  endpoint: "An endpoint of your own needs credentials of your own: vendor_client_id",
  metadata:
    "The metadata of this issuer names an endpoint elsewhere, which needs credentials of your own: vendor_client_id",
} as const satisfies Record<CallersPart, string>;

const PROXIED =
  "This broker reaches vendors through a proxy, and only those in its configuration, at the endpoints stated there";

/**
 * The operator's credentials are only for what the operator's file or the registry states. A proxy
 * resolves names, so that no address of a name can be checked: what a request names is not reached.
 *
 * @param isOurs the credentials are the operator's
 * @param requireReachable a flow begins, and its vendor has to be in reach
 * @throws OAuthError unauthorized_client
 */
export function requireAllowedPart(
  callersPart: CallersPart | undefined,
  { isOurs, requireReachable = false }: { readonly isOurs: boolean; readonly requireReachable?: boolean | undefined },
): void {
  if (callersPart === undefined) return;
  const refusal = { reason: "override_not_allowed" };
  //= bar#XA-2
  if (isOurs) throw new OAuthError("unauthorized_client", WHY[callersPart], refusal);
  //= bar#EG-11
  if (requireReachable) throw new OAuthError("unauthorized_client", PROXIED, refusal);
}
