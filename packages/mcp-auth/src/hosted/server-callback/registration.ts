/**
 * Dynamic client registration (RFC 7591) with this server's own callback, off unless the operator opens it. What registers is
 * a public client with redirect URIs and a name, nothing else. It is forgotten after a day unless a user consents to it, and
 * otherwise ninety days after the last time.
 */
import {
  type Clock,
  type JsonObject,
  OAuthError,
  randomToken,
  type RecordKey,
  type RecordStore,
} from "@oauth-broker/oauth-core";
import { type Answer, jsonAnswer } from "@oauth-broker/oauth-core/hono";
import { readJsonObject } from "../register.ts";
import type { ServerClient } from "./client.ts";
import { readClientMetadata } from "./client-metadata.ts";

export interface RegistrationDeps {
  readonly records: RecordStore;
  readonly now: Clock;
}

//= bar#AS-12
const UNUSED_SECONDS = 86_400;
const USED_SECONDS = 90 * 86_400;
const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(["127.0.0.1", "[::1]", "localhost"]);

/**
 * @param hosts redirect URIs must be of one of these, or of loopback; empty: of any https host
 * @throws OAuthError invalid_client_metadata, invalid_redirect_uri
 */
//= rfc7591#3.2.1
export async function registerClient(
  text: string,
  hosts: readonly string[],
  { records, now }: RegistrationDeps,
): Promise<Answer> {
  const { clientName, redirectUris } = readClientMetadata(readJsonObject(text), "An application without a name");
  for (const uri of redirectUris) requireHost(uri, hosts);
  const issuedAt = now();
  const clientId = `dcr_${randomToken(16)}`;
  const data: JsonObject = { v: 1, clientName, redirectUris };
  await records.create({ key: keyOf(clientId), stage: "unused", data, expiresAt: issuedAt + UNUSED_SECONDS });
  return jsonAnswer(201, {
    client_id: clientId,
    client_id_issued_at: issuedAt,
    client_name: clientName,
    redirect_uris: redirectUris,
    token_endpoint_auth_method: "none",
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
  });
}

function requireHost(uri: string, hosts: readonly string[]): void {
  const { host, hostname, protocol } = new URL(uri);
  const isNative = protocol === "http:" && LOOPBACK_HOSTS.has(hostname);
  if (hosts.length === 0 || isNative || hosts.includes(host)) return;
  throw new OAuthError("invalid_redirect_uri", "redirect_uris must be of a host the operator of this server names");
}

export async function findRegistered(
  clientId: string,
  { records }: Pick<RegistrationDeps, "records">,
): Promise<ServerClient | undefined> {
  if (!/^dcr_[\w-]{22}$/.test(clientId)) return undefined;
  const record = await records.get(keyOf(clientId));
  if (record === undefined) return undefined;
  const { clientName, redirectUris } = record.data as { readonly clientName: string; readonly redirectUris: string[] };
  return { clientId, clientName, redirectUris, knownBy: "registration" };
}

/** A user consented to it, or it refreshed: it must not be forgotten while it is in use. Best effort. */
export async function noteUse(
  client: Pick<ServerClient, "clientId">,
  { records, now }: RegistrationDeps,
): Promise<void> {
  if (!client.clientId.startsWith("dcr_")) return;
  const key = keyOf(client.clientId);
  const record = await records.get(key).catch(() => undefined);
  // Once a day is enough.
  if (record === undefined || record.expiresAt > now() + USED_SECONDS - UNUSED_SECONDS) return;
  const patch = { stage: "used", set: {}, expiresAt: now() + USED_SECONDS };
  await records.advance(key, { stage: record.stage, expect: {} }, patch).catch(() => undefined);
}

function keyOf(id: string): RecordKey {
  return { kind: "client", id };
}
