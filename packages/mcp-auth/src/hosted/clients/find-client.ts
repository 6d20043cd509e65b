/**
 * Finds clients in the order of trust: the operator's list, their metadata document, their
 * registration.
 */
import type { ServerCallback } from "../../settings.ts";
import type { FindClient, FindServerClient } from "./client.ts";
import type { ClientDocuments } from "./metadata-document.ts";
import { findRegistered, type RegistrationDeps } from "./registration.ts";

export interface FindClientDeps extends Pick<RegistrationDeps, "records"> {
  readonly documents: ClientDocuments;
}

export interface ServerClients {
  /**
   * For `/authorize` and the callback: everything known of the client, read again when it may have
   * changed.
   */
  readonly find: FindServerClient;
  /**
   * For `/token` and `/revoke`, where everything is bound to the client id it was issued to.
   * Nothing is fetched: a client's web site that is down must not end its sessions, and no caller
   * can make this server send requests there.
   */
  readonly findHolder: FindClient;
}

export function createServerClients({ clients, registration }: ServerCallback, deps: FindClientDeps): ServerClients {
  const listed = new Map(clients.map((client) => [client.clientId, client]));
  const registered: FindServerClient = async (clientId) =>
    registration === undefined ? undefined : findRegistered(clientId, registration, deps);
  const find: FindServerClient = async (clientId) => {
    const client = listed.get(clientId);
    if (client !== undefined) return { ...client, knownBy: "configuration" };
    return (await deps.documents.find(clientId)) ?? registered(clientId);
  };
  return {
    find,
    findHolder: async (clientId) =>
      deps.documents.has(clientId) && !listed.has(clientId) ? { clientId, redirectUris: [] } : find(clientId),
  };
}
