/**
 * Gives every error page a link back, from the client of the flow to a link that the operator
 * configured. Only configured URLs are linked, never anything from the request.
 */
import type { ClientRegistry } from "@oauth-broker/oauth-core/authorization-server";
import type { WayBack } from "@oauth-broker/service/http";
import type { ClientConfig } from "../config.ts";

/**
 * @param clients those of the configuration. A single client is the way back for unknown flows too;
 *   a single one with `initiate_login_uri` for a user whom a vendor sends without any flow.
 */
export function createWayBack(clients: readonly ClientConfig[], registry: ClientRegistry<ClientConfig>): WayBack {
  const [only, ...others] = clients;
  const startable = clients.filter((client) => client.initiateLoginUri !== undefined);
  const forAll = others.length === 0 ? only : undefined;
  const forInstalls = startable.length === 1 ? startable[0] : undefined;
  return async ({ clientId, reason }) => {
    const known = clientId === undefined ? undefined : await registry.find(clientId);
    const client = known ?? forAll ?? (reason === "state_missing" ? forInstalls : undefined);
    if (client === undefined) return undefined;
    const href = client.initiateLoginUri ?? originOf(client.redirectUris[0]);
    return href === undefined ? undefined : { href, label: `Back to ${client.name ?? new URL(href).host}` };
  };
}

function originOf(redirectUri: string | undefined): string | undefined {
  return redirectUri === undefined ? undefined : `${new URL(redirectUri).origin}/`;
}
