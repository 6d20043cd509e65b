/**
 * Finds clients in the order of trust: the operator's list, their metadata document, their
 * registration.
 */
import type { ServerCallback } from "../../settings.ts";
import type { FindClient, FindServerClient } from "./client.ts";
import type { HostedDeps } from "../deps.ts";
import { createClientDocuments } from "./metadata-document.ts";
import { findRegistered } from "./registration.ts";

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

export function createServerClients(
  { clients, registration, clientMetadataHosts: hosts }: ServerCallback,
  { records, now, settings, fetchDocument: fetch, fetchPublicDocument: fetchPublic }: HostedDeps,
): ServerClients {
  const { allowLoopback } = settings.egress;
  const documents = createClientDocuments({ fetch, fetchPublic, hosts, allowLoopback, now });
  const listed = new Map(clients.map((client) => [client.clientId, client]));
  const find: FindServerClient = async (clientId) => {
    const client = listed.get(clientId);
    if (client !== undefined) return { ...client, knownBy: "configuration" };
    return (await documents.find(clientId)) ?? (registration && findRegistered(clientId, registration, { records }));
  };
  return {
    find,
    findHolder: async (clientId) =>
      documents.has(clientId) && !listed.has(clientId) ? { clientId, redirectUris: [] } : find(clientId),
  };
}
