/** The apps a vendor knows, how they present their credentials, and the comparison of secrets. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { Context } from "hono";
import type { Members } from "./members.ts";
import type { SimulatedClient, VendorEnv } from "./simulator.ts";

export type AuthMethod = "client_secret_basic" | "client_secret_post" | "none";

interface Credentials {
  readonly method: AuthMethod;
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
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

/**
 * @param methodOf the only method of a client; default: any with a secret
 * @returns undefined unless the request is that of a known client
 */
export function authenticate<Client extends SimulatedClient>(
  c: Context<VendorEnv>,
  members: Members,
  clients: ReadonlyMap<string, Client>,
  methodOf?: (client: Client) => AuthMethod,
): Client | undefined {
  const { method, clientId, clientSecret } = readCredentials(c, members);
  const client = clients.get(clientId ?? "");
  if (client === undefined || (methodOf !== undefined && methodOf(client) !== method)) return undefined;
  const isPublic = method === "none" && methodOf !== undefined;
  return isPublic || isSecretOf(client, clientSecret) ? client : undefined;
}

export function bearerToken(c: Context<VendorEnv>): string | undefined {
  return /^Bearer +(\S+)$/i.exec(c.req.header("Authorization") ?? "")?.[1];
}

/** https, or http on this machine; never a fragment. */
export function isRedirectUri(value: unknown): value is string {
  if (typeof value !== "string" || !URL.canParse(value) || value.includes("#")) return false;
  const { protocol, hostname } = new URL(value);
  return protocol === "https:" || (protocol === "http:" && LOOPBACK_HOSTS.has(hostname));
}

export const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(["127.0.0.1", "[::1]", "localhost"]);

/** Whether this is the secret of the client. A client without a secret matches none. */
export function isSecretOf(client: SimulatedClient, secret: string | undefined): boolean {
  return secret !== undefined && client.clientSecret !== undefined && isSameText(client.clientSecret, secret);
}

/** Takes the same time for a wrong text as for a right one, regardless of the lengths. */
export function isSameText(a: string, b: string): boolean {
  const hash = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(hash(a), hash(b));
}

function formDecode(text: string): string {
  return new URLSearchParams(`text=${text.replaceAll("&", "%26")}`).get("text") ?? "";
}
