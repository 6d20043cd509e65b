/**
 * Tokens of a grant go only to hosts that were the vendor's when the grant was made. The list is
 * kept with the grant (`connection`) and compared before a token is sent again, whatever the
 * configuration then says.
 */
import { OAuthError } from "../../protocol/errors.ts";
import type { ResolvedVendor } from "../../vendors/vendor.ts";

type TokenEndpoints = Pick<ResolvedVendor, "tokenEndpoint" | "refreshEndpoint" | "revocationEndpoint">;

/**
 * @returns hosts, with a port that is not the scheme's own, of the token, refresh and revocation
 *   endpoints, each once
 */
export function tokenHosts({ tokenEndpoint, refreshEndpoint, revocationEndpoint }: TokenEndpoints): string[] {
  const endpoints = [tokenEndpoint, refreshEndpoint, revocationEndpoint].filter((endpoint) => endpoint !== undefined);
  return [...new Set(endpoints.map((endpoint) => new URL(endpoint).host))];
}

/**
 * @param hosts as `tokenHosts` returned them when the grant was made
 * @param endpoint the one about to receive a token; undefined when the vendor has none, which the
 *   caller refuses
 * @throws OAuthError invalid_grant, reason `connection_endpoint_changed`
 */
//= bar#BY-4
export function requireTokenHost(hosts: readonly string[], endpoint: string | undefined): void {
  if (endpoint === undefined || hosts.includes(new URL(endpoint).host)) return;
  throw new OAuthError("invalid_grant", "The vendor's endpoint moved: the user must authorize again", {
    reason: "connection_endpoint_changed",
  });
}
