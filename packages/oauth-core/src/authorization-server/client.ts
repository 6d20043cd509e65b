/**
 * A client as the authorization server knows it: who may push requests and redeem codes. The
 * broker's configuration file is the first registry; a store may be the second, so the look-up is
 * async.
 */
import type { JSONWebKeySet } from "jose";
import { defined } from "../mechanics/defined.ts";
import { OAuthError, toOAuthError } from "../protocol/errors.ts";

/** One of our clients: how it authenticates and where its users may be sent back to. */
export interface Client {
  readonly clientId: string;
  /**
   * SHA-256 of each live secret; two while a secret is being rotated, none for a client with keys.
   */
  readonly secretDigests: readonly Buffer[];
  /** Public keys for private_key_jwt, given by value … */
  readonly jwks?: JSONWebKeySet;
  /** … or by reference. */
  readonly jwksUri?: string;
  readonly redirectUris: readonly string[];
}

/** Clients by id; undefined if there is no such client. */
export interface ClientRegistry<C extends Client = Client> {
  find(clientId: string): Promise<C | undefined>;
}

/** A client whose keys are at its `jwks_uri`, which is not the vendor's outage. */
export function clientKeysUnavailable(cause: unknown): OAuthError {
  const { detail, retryAfterSeconds } = toOAuthError(cause);
  return new OAuthError("temporarily_unavailable", "The key set at the jwks_uri of the client cannot be read", {
    reason: "client_keys_unavailable",
    cause,
    ...defined({ detail, retryAfterSeconds }),
  });
}

/**
 * The single error for every authentication failure: the caller does not learn which part was
 * wrong.
 */
export function invalidClient(detail: string, cause?: unknown): OAuthError {
  return new OAuthError("invalid_client", "Client authentication failed", { detail, cause });
}
