/** The clients of the configuration file, as a registry; a store may take its place, hence the async look-up. */
import type { ClientRegistry } from "@oauth-broker/oauth-core/server";
import type { ClientConfig } from "../config.ts";

export function configuredClients(clients: readonly ClientConfig[]): ClientRegistry<ClientConfig> {
  const byId = new Map(clients.map((client) => [client.clientId, client]));
  return { find: async (clientId) => byId.get(clientId) };
}
