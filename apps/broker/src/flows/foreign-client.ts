/**
 * A client of ours at a vendor is not the caller's to bring to a vendor of the caller's: codes that
 * were given to us would go there. Asked of every vendor, whatever its origin: a vendor answers
 * under more names than its entry knows. Called by vendor-choice.ts for tier 3. At tier 1, where
 * codes go to the vendor itself, the user is asked instead (owner-consent.ts).
 */
import { OAuthError, type VendorCredentials } from "@oauth-broker/oauth-core";
import { foldClientId } from "../config.ts";
import type { Deps } from "../deps.ts";

/**
 * @throws OAuthError unauthorized_client when the broker holds credentials with this client id,
 *   active or retired, at any vendor
 */
//= bar#XA-4
export function requireForeignClient(
  { clientId }: Pick<VendorCredentials, "clientId">,
  { registrations }: Pick<Deps, "registrations">,
): void {
  if (!registrations.has(foldClientId(clientId))) return;
  throw new OAuthError(
    "unauthorized_client",
    "This vendor client is the broker's own: name the vendor by its id alone, or send a vendor_client_id of your own",
    { reason: "override_not_allowed" },
  );
}
