/**
 * The platform's client at a server's authorization server: the one an administrator entered,
 * otherwise one registered there. A client belongs to one issuer: at another issuer the platform
 * registers again and sends no secret. Before it: discover.ts.
 */
import {
  type EpochSeconds,
  type Fetch,
  type JsonObject,
  type KeyWrapper,
  OAuthError,
  Secret,
} from "@oauth-broker/oauth-core";
import { randomToken } from "@oauth-broker/oauth-core/protocol";
import {
  allowInsecureRequests,
  type AuthorizationServer,
  customFetch,
  dynamicClientRegistrationRequest,
  processDynamicClientRegistrationResponse,
} from "oauth4webapi";
import { NEVER } from "../../connectors/kept-records.ts";
import { openSecret, type SealedStore, sealSecret } from "../../connectors/connector-secrets.ts";
import type { HostedServer } from "./discover.ts";
import { recipientOf } from "../recipient.ts";
import { broken, reach } from "./failure.ts";

const METHODS = ["none", "client_secret_basic", "client_secret_post"] as const;
type Method = (typeof METHODS)[number];

export interface HostedClient {
  readonly clientId: string;
  readonly clientSecret?: Secret;
  /** Its authentication method at the token endpoint. */
  readonly method: Method;
  /** Absent when there is no secret or it does not expire. */
  readonly secretExpiresAt?: EpochSeconds;
}

export interface HostedClientDeps extends SealedStore {
  readonly fetch: Fetch;
  readonly redirectUri: string;
}

/**
 * A client that an administrator entered. Uses Basic, which every server must accept (RFC 6749
 * section 2.3.1), unless the server names other methods.
 */
export function enteredClient(clientId: string, clientSecret: Secret | undefined, server: HostedServer): HostedClient {
  if (clientSecret === undefined) return { clientId, method: "none" };
  return { clientId, clientSecret, method: firstOf(["client_secret_basic", "client_secret_post"], server.metadata) };
}

/** The platform, as it asks to be registered. */
export function registrationOf(redirectUri: string, method: Method) {
  return {
    client_name: "Platform",
    redirect_uris: [redirectUri],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: method,
    application_type: "web",
  };
}

/**
 * Registers the platform at the server, as a public client if the server accepts those.
 *
 * @returns the client, for every user of the connector
 * @throws OAuthError as discoverServer; reason `no_registration`
 */
export async function registerAt(
  server: HostedServer,
  { redirectUri, fetch, now }: Pick<HostedClientDeps, "redirectUri" | "fetch" | "now">,
): Promise<HostedClient> {
  if (server.registrationEndpoint === undefined) throw broken("no_registration", "registers no clients");
  const requested = registrationOf(redirectUri, firstOf(METHODS, server.metadata));
  try {
    const answer = await reach(() =>
      dynamicClientRegistrationRequest(server.metadata, requested, {
        [customFetch]: (to, { headers, body }) => fetch(to, { method: "POST", headers, body }),
        // Egress decides what may be reached without TLS.
        [allowInsecureRequests]: server.issuer.startsWith("http:"),
      }),
    );
    const client = await processDynamicClientRegistrationResponse(answer);
    const { client_id: clientId, client_secret: secret, token_endpoint_auth_method: named } = client;
    // The library has checked that it is a number beside a secret.
    const secretExpiresAt = Number(client.client_secret_expires_at ?? 0);
    const method = METHODS.find((known) => known === (named ?? requested.token_endpoint_auth_method));
    if (method === undefined)
      throw broken("no_registration", "requires an authentication method that the platform does not support");
    if (method === "none") return { clientId, method };
    if (typeof secret !== "string") throw broken("no_registration", "registered the platform without a secret");
    //= rfc7591#3.2.1
    //= bar#DC-3
    if (secretExpiresAt === 0) return { clientId, method, clientSecret: new Secret(secret) };
    if (secretExpiresAt <= now())
      throw broken("no_registration", "registered the platform with a secret that has expired");
    return { clientId, method, clientSecret: new Secret(secret), secretExpiresAt };
  } catch (cause) {
    throw cause instanceof OAuthError ? cause : broken("no_registration", "did not register the platform", cause);
  }
}

/**
 * Registers once per connector and issuer, and again when the secret has expired, so that all users
 * share one client.
 */
export async function registeredClient(
  connectorId: string,
  server: HostedServer,
  deps: HostedClientDeps,
): Promise<HostedClient> {
  const { records, keys, redirectUri } = deps;
  const id = recipientOf([connectorId, server.issuer, redirectUri]);
  const key = { kind: "registered-client", id };
  const known = await records.get(key);
  if (known !== undefined) return opened(known.data, id, keys);
  const client = await registerAt(server, deps);
  const { clientId, method, clientSecret, secretExpiresAt = NEVER } = client;
  const sealed = clientSecret === undefined ? {} : { sealed: await sealSecret(keys, clientSecret, placeOf(id)) };
  const data = { v: 1, clientId, method, ...sealed, attempt: randomToken(8) };
  const created = await records.create({ key, stage: "registered", data, expiresAt: secretExpiresAt });
  if (created === "created") return client;
  // Another process registered first: its client is used.
  const theirs = await records.get(key);
  return theirs === undefined ? client : opened(theirs.data, id, keys);
}

async function opened(data: JsonObject, id: string, keys: KeyWrapper): Promise<HostedClient> {
  const { clientId, method = "none", sealed } = data;
  const client = { clientId: clientId as string, method: method as Method };
  if (sealed === undefined) return client;
  return { ...client, clientSecret: await openSecret(keys, sealed as JsonObject, placeOf(id)) };
}

const placeOf = (id: string): readonly string[] => ["secret of a registered client", id];

/**
 * The platform's first authentication method that the server accepts. A server that names none
 * accepts all of them.
 */
function firstOf<T extends Method>(methods: readonly [T, ...T[]], metadata: AuthorizationServer): T {
  const taken = metadata.token_endpoint_auth_methods_supported;
  return methods.find((method) => taken?.includes(method) ?? true) ?? methods[0];
}
