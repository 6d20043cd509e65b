/**
 * Gives every error page a link back, from the client of the flow to a link that the operator
 * configured. Only configured URLs are linked, never anything from the request.
 */
import type { ClientRegistry } from "@oauth-broker/oauth-core/server";
import type { WayBack } from "@oauth-broker/oauth-core/service";
import type { ClientConfig } from "../config.ts";

/**
 * @param clients those of the configuration: a single client is the way back for unknown flows too
 */
export function createWayBack(clients: readonly ClientConfig[], registry: ClientRegistry<ClientConfig>): WayBack {
  const [only, ...others] = clients;
  const startable = clients.filter((client) => client.initiateLoginUri !== undefined);
  const fallback = others.length === 0 ? only : startable.length === 1 ? startable[0] : undefined;
  return async (clientId) => {
    const client = (clientId === undefined ? undefined : await registry.find(clientId)) ?? fallback;
    if (client === undefined) return undefined;
    const href = client.initiateLoginUri ?? originOf(client.redirectUris[0]);
    return href === undefined ? undefined : { href, label: `Back to ${client.name ?? new URL(href).host}` };
  };
}

function originOf(redirectUri: string | undefined): string | undefined {
  return redirectUri === undefined ? undefined : `${new URL(redirectUri).origin}/`;
}
