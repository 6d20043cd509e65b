/** The apps a vendor knows, how they present their credentials, and the comparison of secrets. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { Context } from "hono";
import type { Members } from "./members.ts";
import type { SimulatedClient, VendorEnv } from "./simulator.ts";

export interface Clients<Client extends SimulatedClient> {
  add(client: Client): void;
  remove(clientId: string): void;
  find(clientId: string | undefined): Client | undefined;
}

export interface Credentials {
  readonly method: "client_secret_basic" | "client_secret_post" | "none";
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
}

export function createClients<Client extends SimulatedClient>(): Clients<Client> {
  const clients = new Map<string, Client>();
  return {
    add: (client) => void clients.set(client.clientId, client),
    remove: (clientId) => void clients.delete(clientId),
    find: (clientId) => (clientId === undefined ? undefined : clients.get(clientId)),
  };
}

/**
 * The Authorization header when it is Basic, else the body. Parts of Basic are form-decoded, RFC
 * 6749 2.3.1.
 */
export function readCredentials(c: Context<VendorEnv>, members: Members): Credentials {
  const encoded = /^Basic +([A-Za-z0-9+/=_-]+)$/i.exec(c.req.header("Authorization") ?? "")?.[1];
  if (encoded !== undefined) {
    const decoded = Buffer.from(encoded, "base64").toString();
    const at = decoded.indexOf(":");
    return {
      method: "client_secret_basic",
      clientId: formDecode(decoded.slice(0, Math.max(at, 0))),
      clientSecret: formDecode(decoded.slice(at + 1)),
    };
  }
  const clientSecret = members.get("client_secret");
  return {
    method: clientSecret === undefined ? "none" : "client_secret_post",
    clientId: members.get("client_id"),
    clientSecret,
  };
}

export function bearerToken(c: Context<VendorEnv>): string | undefined {
  return /^Bearer +(\S+)$/i.exec(c.req.header("Authorization") ?? "")?.[1];
}

/** Whether this is a secret of the client. A client without secrets matches none. */
export function isSecretOf(client: SimulatedClient, secret: string | undefined): boolean {
  if (secret === undefined) return false;
  const known = [client.clientSecret, ...(client.olderSecrets ?? [])].filter((one) => one !== undefined);
  return known.map((one) => isSameText(one, secret)).includes(true);
}

/** Takes the same time for a wrong text as for a right one, regardless of the lengths. */
export function isSameText(a: string, b: string): boolean {
  const hash = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(hash(a), hash(b));
}

function formDecode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}
