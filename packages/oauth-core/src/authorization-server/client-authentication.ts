/**
 * Authenticates the client: client_secret_basic, client_secret_post or private_key_jwt, exactly one
 * of them. The first step of every endpoint a backend calls. Secrets are random values stored as
 * SHA-256, so one hash and one constant-time comparison are enough; a slow password hash would add
 * latency and no security.
 */
import { hash, timingSafeEqual } from "node:crypto";
import { OAuthError } from "../protocol/errors.ts";
import { type Parameters, parseParameters } from "../protocol/parameters.ts";
import { type AssertionDeps, JWT_BEARER_ASSERTION, verifyClientAssertion } from "./client-assertion.ts";
import { type Client, type ClientRegistry, invalidClient } from "./client.ts";

export const CLIENT_AUTHENTICATION_METHODS = ["client_secret_basic", "client_secret_post", "private_key_jwt"] as const;

export interface ClientAuthenticationDeps<C extends Client> extends AssertionDeps {
  readonly clients: ClientRegistry<C>;
}

/**
 * Stands in for the digest of an unknown client, so that an unknown client and a wrong secret take
 * the same path.
 */
const NO_DIGEST = Buffer.alloc(32);

/**
 * @param authorization the Authorization header as received
 * @throws OAuthError invalid_client; invalid_request when more than one method is used at once
 */
//= rfc6749#2.3
export async function authenticateClient<C extends Client>(
  authorization: string | undefined,
  parameters: Parameters,
  deps: ClientAuthenticationDeps<C>,
): Promise<C> {
  const assertion = parameters.get("client_assertion");
  const postedSecret = parameters.get("client_secret");
  const used = [authorization, assertion, postedSecret].filter((value) => value !== undefined).length;
  if (used === 0) throw invalidClient("no credentials presented");
  //= rfc6749#2.3
  if (used > 1) throw new OAuthError("invalid_request", "Use one client authentication method at a time");

  if (assertion !== undefined) {
    if (parameters.get("client_assertion_type") !== JWT_BEARER_ASSERTION) {
      throw invalidClient("client_assertion_type is not jwt-bearer");
    }
    return verifyClientAssertion(assertion, parameters.get("client_id"), deps);
  }
  const presented =
    authorization === undefined
      ? { clientId: parameters.get("client_id"), secret: postedSecret ?? "" }
      : readBasic(authorization);
  const client = verifySecret(await deps.clients.find(presented.clientId ?? ""), presented.secret);
  //= bar#ST-1
  if ((parameters.get("client_id") ?? client.clientId) !== client.clientId) {
    throw new OAuthError("invalid_request", "client_id differs from the authenticated client");
  }
  return client;
}

const BEARER = /^Bearer +([\w.~+/-]+=*)$/i;
const NO_PARAMETERS = parseParameters("");

/**
 * For requests whose body is not a form: Basic, or the client assertion as a bearer token.
 *
 * @param authorization the Authorization header as received
 * @throws OAuthError invalid_client
 */
//= rfc6750#2.1
export async function authenticateByHeader<C extends Client>(
  authorization: string | undefined,
  deps: ClientAuthenticationDeps<C>,
): Promise<C> {
  const assertion = BEARER.exec(authorization ?? "")?.[1];
  if (assertion !== undefined) return verifyClientAssertion(assertion, undefined, deps);
  return authenticateClient(authorization, NO_PARAMETERS, deps);
}

function verifySecret<C extends Client>(client: C | undefined, secret: string): C {
  // Node makes a digest as text for a third of what it takes as a buffer.
  const presented = Buffer.from(hash("sha256", secret, "latin1"), "latin1");
  let matches = false;
  for (const digest of client === undefined || client.secretDigests.length === 0 ? [NO_DIGEST] : client.secretDigests) {
    //= bar#HT-9
    matches = timingSafeEqual(presented, digest) || matches;
  }
  if (client === undefined || !matches) throw invalidClient(client === undefined ? "unknown client" : "wrong secret");
  return client;
}

const BASIC = /^Basic +([A-Za-z0-9+/]+={0,2})$/i;

/** Client id and secret are form-encoded before they are joined and base64-encoded. */
//= rfc6749#2.3.1
function readBasic(authorization: string): { clientId: string; secret: string } {
  const encoded = BASIC.exec(authorization)?.[1];
  if (encoded === undefined) throw invalidClient("Authorization is not Basic");
  const joined = Buffer.from(encoded, "base64").toString("utf8");
  const colon = joined.indexOf(":");
  if (colon < 1) throw invalidClient("Basic credentials have no colon");
  return { clientId: formDecode(joined.slice(0, colon)), secret: formDecode(joined.slice(colon + 1)) };
}

function formDecode(value: string): string {
  if (!value.includes("%") && !value.includes("+")) return value;
  try {
    return decodeURIComponent(value.replaceAll("+", " "));
  } catch (cause) {
    throw invalidClient("Basic credentials are not form-encoded", cause);
  }
}
