/**
 * private_key_jwt: the client signs a JWT that names itself. Stricter than the RFC, against
 * mix-ups: `aud` is our issuer string and nothing else, the lifetime is at most 60 s, and `jti` is
 * single use across all processes.
 */
import { hash } from "node:crypto";
import { createLocalJWKSet, decodeJwt, errors, type JSONWebKeySet, type JWTVerifyGetKey, jwtVerify } from "jose";
import { oncePerObject } from "../mechanics/expiring-map.ts";
import type { Clock, RecordStore } from "../ports.ts";
import { isOutage, OAuthError } from "../protocol/errors.ts";
import { type Client, clientKeysUnavailable, type ClientRegistry, invalidClient } from "./client.ts";

export const JWT_BEARER_ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
/**
 * `Ed25519` is the name RFC 9864 gives to what `EdDSA` means with that curve; libraries send
 * either.
 */
export const ASSERTION_ALGS = ["ES256", "RS256", "PS256", "EdDSA", "Ed25519"] as const;

const LIFETIME_SECONDS = 60;
const SKEW_SECONDS = 10;
const MAX_LENGTH = 8192;

/** What the check of a private_key_jwt assertion needs (RFC 7523 §3). */
export interface AssertionDeps {
  /** Our issuer, the only `aud` we accept, compared byte for byte. */
  readonly issuer: string;
  readonly now: Clock;
  readonly records: Pick<RecordStore, "create">;
  /** Fetches the keys of a client registered with `jwks_uri`. */
  readonly remoteKeys: (jwksUri: string) => JWTVerifyGetKey;
}

/**
 * @param clientId the `client_id` parameter, when one was sent: it must be the assertion's subject
 * @throws OAuthError invalid_client
 */
//= rfc7523#3
export async function verifyClientAssertion<C extends Client>(
  assertion: string,
  clientId: string | undefined,
  deps: AssertionDeps & { readonly clients: ClientRegistry<C> },
): Promise<C> {
  const subject = subjectOf(assertion);
  if (clientId !== undefined && clientId !== subject) throw invalidClient("client_id is not the assertion's subject");
  const client = await deps.clients.find(subject);
  const keys = client === undefined ? undefined : keysOf(client, deps);
  if (client === undefined || keys === undefined) throw invalidClient("client has no keys");
  const { jti, expiresAt } = await verifyClaims(assertion, client, keys, deps);
  await spendOnce(client, jti, expiresAt, deps);
  return client;
}

function subjectOf(assertion: string): string {
  if (assertion.length > MAX_LENGTH) throw invalidClient("assertion is too long");
  try {
    return decodeJwt(assertion).sub ?? "";
  } catch (cause) {
    throw invalidClient("assertion is not a JWT", cause);
  }
}

const localKeys = oncePerObject((jwks: JSONWebKeySet) => createLocalJWKSet(jwks));

function keysOf({ jwks, jwksUri }: Client, { remoteKeys }: AssertionDeps): JWTVerifyGetKey | undefined {
  return jwksUri === undefined ? jwks && localKeys(jwks) : remoteKeys(jwksUri);
}

async function verifyClaims(
  assertion: string,
  client: Client,
  keys: JWTVerifyGetKey,
  { issuer, now }: AssertionDeps,
): Promise<{ jti: string; expiresAt: number }> {
  const { payload } = await jwtVerify(assertion, keys, {
    issuer: client.clientId,
    subject: client.clientId,
    audience: issuer,
    algorithms: [...ASSERTION_ALGS],
    requiredClaims: ["exp", "iat", "jti"],
    clockTolerance: SKEW_SECONDS,
    currentDate: new Date(now() * 1000),
  }).catch((cause: unknown) => {
    // A key set that cannot be fetched is an outage and is reported as one; anything else is a bad
    // assertion.
    throw isOutage(cause) ? clientKeysUnavailable(cause) : invalidClient(whyNot(cause), cause);
  });
  const { aud, exp = 0, iat = 0, jti } = payload;
  //= bar#VR-6
  if (typeof aud !== "string") throw invalidClient("aud is not one string");
  //= bar#VR-6
  if (exp - iat > LIFETIME_SECONDS) throw invalidClient("assertion lives longer than 60 s");
  if (iat > now() + SKEW_SECONDS) throw invalidClient("assertion is from the future");
  if (typeof jti !== "string" || jti === "" || jti.length > 255) throw invalidClient("jti is missing");
  // NumericDate may have a fraction (rfc7519#2); a record is kept for whole seconds.
  return { jti, expiresAt: Math.ceil(exp) };
}

/** For the operator: what is wrong with the key set, or which claim is. */
function whyNot(cause: unknown): string {
  if (cause instanceof OAuthError && cause.detail !== undefined) return `client keys: ${cause.detail}`;
  const isOfClaim = cause instanceof errors.JWTClaimValidationFailed || cause instanceof errors.JWTExpired;
  return `assertion does not verify${isOfClaim ? `: ${cause.claim}` : ""}`;
}

/** The `jti` is remembered until the assertion is expired by any clock within the allowed skew. */
async function spendOnce(
  client: Client,
  jti: string,
  expiresAt: number,
  { records, now }: AssertionDeps,
): Promise<void> {
  const id = hash("sha256", `${client.clientId.length}:${client.clientId}${jti}`, "base64url");
  const outcome = await records.create({
    key: { kind: "assertion", id },
    stage: "spent",
    data: { v: 1, clientId: client.clientId },
    expiresAt: Math.max(expiresAt, now()) + 2 * SKEW_SECONDS,
  });
  //= rfc7523#3
  if (outcome === "exists") throw invalidClient("assertion was used before");
}
