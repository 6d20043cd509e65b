/**
 * A client of ours at a vendor is not a caller's to bring: beside an endpoint of his own it would send him codes that were
 * given to us. Some vendors accept any path below a registered redirect URI, so a callback path of its own is no protection
 * there. Called by vendor-choice.ts for tier 3.
 */
import { OAuthError, type VendorCredentials } from "@oauth-broker/oauth-core";
import type { Deps } from "../deps.ts";

/** @throws OAuthError unauthorized_client when the operator has configured this client id, at whichever vendor */
//= bar#XA-4
export function requireForeignClient(
  { clientId }: Pick<VendorCredentials, "clientId">,
  { vendors }: Pick<Deps, "vendors">,
): void {
  const isOurs = [...vendors.values()].some(({ credentials }) => credentials.some((one) => one.clientId === clientId));
  if (!isOurs) return;
  throw new OAuthError(
    "unauthorized_client",
    "This vendor client is the broker's own: bring another with an endpoint of your own",
    {
      reason: "override_not_allowed",
    },
  );
}
