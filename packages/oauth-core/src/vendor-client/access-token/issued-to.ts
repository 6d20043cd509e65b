/** The pin of an access token to the client it was issued to. Called by judge-token.ts. */
import type { VendorCredentials } from "../../vendors/vendor.ts";

/**
 * A token that another app got for the same person is no token for us: the owner of that app could act
 * here as its users. A token of which the vendor names no client may be one of them.
 *
 * @param clients as the vendor names them; none where it tells none
 * @param credentials absent: no client is expected
 */
export function isIssuedTo(clients: readonly string[], credentials: VendorCredentials | undefined): boolean {
  if (credentials === undefined) return true;
  return clients.length > 0 && clients.every((client) => client === credentials.clientId);
}
