/**
 * Dynamic client registration (RFC 7591) with this server's own callback, off unless the operator
 * opens it. A registered client is public and has redirect URIs and a name, nothing else. It is
 * deleted after a day unless a user's consent produces tokens for it, and otherwise ninety days
 * after it last received any; when too many clients have no tokens, the oldest of them is deleted
 * earlier (unused-clients.ts).
 */
import { type Clock, OAuthError, type RecordKey, type RecordStore } from "@oauth-broker/oauth-core";
import { randomToken } from "@oauth-broker/oauth-core/protocol";
import { type Answer, jsonAnswer } from "@oauth-broker/oauth-core/http";
import type { ServerCallback } from "../../settings.ts";
import type { HostedClient, ServerClient } from "./client.ts";
import { type ClientMetadata, readJsonObject, readRegistration, REGISTERED_METADATA } from "./client-metadata.ts";

export interface RegistrationDeps {
  readonly records: RecordStore;
  readonly now: Clock;
  /**
   * Counts the registration against its caller, and makes room for the client.
   *
   * @throws OAuthError slow_down
   */
  readonly beforeStoring: (clientId: string) => Promise<void>;
}

export type RegistrationRules = NonNullable<ServerCallback["registration"]>;

type Registered = ClientMetadata & {
  readonly v: 1;
  /** Seconds since 1970, as text, of the last extension of its lifetime. */
  readonly usedAt?: string;
};

//= bar#AS-12
export const UNUSED_SECONDS = 86_400;
const USED_SECONDS = 90 * 86_400;
const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(["127.0.0.1", "[::1]", "localhost"]);

/** @throws OAuthError invalid_client_metadata, invalid_redirect_uri, slow_down */
//= rfc7591#3.2.1
export async function registerClient(
  text: string,
  rules: RegistrationRules,
  { records, now, beforeStoring }: RegistrationDeps,
): Promise<Answer> {
  const { clientName, redirectUris } = readRegistration(readJsonObject(text));
  if (!redirectUris.every((uri) => isPermitted(uri, rules))) {
    throw new OAuthError(
      "invalid_redirect_uri",
      "redirect_uris must be on hosts that the operator of this server allows",
    );
  }
  const clientId = `dcr_${randomToken(16)}`;
  await beforeStoring(clientId);
  const issuedAt = now();
  const data: Registered = { v: 1, clientName, redirectUris };
  await records.create({ key: keyOf(clientId), stage: "unused", data, expiresAt: issuedAt + UNUSED_SECONDS });
  return jsonAnswer(201, {
    client_id: clientId,
    client_id_issued_at: issuedAt,
    client_name: clientName,
    redirect_uris: redirectUris,
    ...REGISTERED_METADATA,
  });
}

function isPermitted(uri: string, { hosts }: RegistrationRules): boolean {
  const { host, hostname, protocol } = new URL(uri);
  const isNative = protocol === "http:" && LOOPBACK_HOSTS.has(hostname);
  //= bar#AS-11
  return hosts.length === 0 || isNative || hosts.includes(host);
}

/**
 * By the current rules: a client registered before they were narrowed may no longer be accepted.
 */
export async function findRegistered(
  clientId: string,
  rules: RegistrationRules,
  { records }: Pick<RegistrationDeps, "records">,
): Promise<ServerClient | undefined> {
  if (!isRegistered(clientId)) return undefined;
  const record = await records.get(keyOf(clientId));
  if (record === undefined) return undefined;
  const { clientName, redirectUris } = record.data as Registered;
  const permitted = redirectUris.filter((uri) => isPermitted(uri, rules));
  return { clientId, clientName, redirectUris: permitted, knownBy: "registration" };
}

/**
 * The client got tokens, so it must not be deleted while it is in use. Best effort; once a day is
 * enough.
 */
//= bar#AS-12
export async function markUsed(
  { clientId }: Pick<HostedClient, "clientId">,
  { records, now }: Pick<RegistrationDeps, "records" | "now">,
): Promise<void> {
  if (!isRegistered(clientId)) return;
  const key = keyOf(clientId);
  const record = await records.get(key).catch(() => undefined);
  if (record === undefined || record.expiresAt > now() + USED_SECONDS - UNUSED_SECONDS) return;
  const { usedAt } = record.data as Registered;
  const from = { stage: record.stage, expect: usedAt === undefined ? {} : { usedAt } };
  const patch = { stage: "used", set: { usedAt: String(now()) }, expiresAt: now() + USED_SECONDS };
  await records.advance(key, from, patch).catch(() => undefined);
}

/**
 * Deletes a client that never got tokens, and no other: a conditional write decides, which fails
 * after a first use.
 */
//= bar#AS-12
export async function forgetUnused(
  clientId: string,
  { records, now }: Pick<RegistrationDeps, "records" | "now">,
): Promise<void> {
  const key = keyOf(clientId);
  const ended = { stage: "ended", set: {}, expiresAt: now() };
  const { outcome } = await records.advance(key, { stage: "unused", expect: {} }, ended);
  if (outcome === "moved") await records.delete(key);
}

function isRegistered(clientId: string): boolean {
  return /^dcr_[\w-]{22}$/.test(clientId);
}

function keyOf(id: string): RecordKey {
  return { kind: "client", id };
}
