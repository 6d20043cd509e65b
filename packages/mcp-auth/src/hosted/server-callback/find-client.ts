/** Where clients are looked for, in the order of trust: the operator's list, their own document, their registration. */
import type { ServerCallback } from "../../settings.ts";
import type { FindServerClient } from "./client.ts";
import type { ClientDocuments } from "./client-metadata-document.ts";
import { findRegistered, type RegistrationDeps } from "./registration.ts";

export interface FindClientDeps extends RegistrationDeps {
  readonly documents: ClientDocuments;
}

export function createFindClient({ clients, registration }: ServerCallback, deps: FindClientDeps): FindServerClient {
  const listed = new Map(clients.map((client) => [client.clientId, client]));
  return async (clientId) => {
    const client = listed.get(clientId);
    if (client !== undefined) return { ...client, knownBy: "configuration" };
    const documented = await deps.documents.find(clientId);
    if (documented !== undefined) return documented;
    return registration === undefined ? undefined : findRegistered(clientId, deps);
  };
}
