/**
 * The clients of the configuration file, as a registry. The look-up is asynchronous so that a store
 * can replace the file.
 */
import type { ClientRegistry } from "@oauth-broker/oauth-core/server";
import type { ClientConfig } from "../config.ts";

export function configuredClients(clients: readonly ClientConfig[]): ClientRegistry<ClientConfig> {
  const byId = new Map(clients.map((client) => [client.clientId, client]));
  return { find: async (clientId) => byId.get(clientId) };
}
