/**
 * The interface for a backend, with either implementation: the broker (createBrokerClient) or the
 * vendor itself (`direct`). docs: README.md of this package.
 */
import type { EpochSeconds, JsonObject } from "./ports.ts";
import type { BrokerClientError } from "./error.ts";
import type { Session } from "./session.ts";

/**
 * The caller's own client at the vendor. It is sent with each call that needs it and stored
 * nowhere.
 */
export interface ByocCredentials {
  readonly clientId: string;
  /** Absent for a public client. */
  readonly clientSecret?: string;
}

/**
 * The vendor, and our client there. A `direct` client has one vendor: there, only that `vendor` may
 * be named, and nothing else.
 */
export interface VendorTarget {
  /**
   * An id from `/v1/vendors` of the broker; left out when `issuer` or both `endpoints` are given.
   */
  readonly vendor?: string;
  readonly byoc?: ByocCredentials;
  /** Manual mode. */
  readonly issuer?: string;
  readonly endpoints?: { readonly authorizationEndpoint?: string; readonly tokenEndpoint?: string };
  readonly placeholders?: Readonly<Record<string, string>>;
}

/** What a user's authorization is to ask the vendor for. */
export interface StartRequest extends VendorTarget {
  /** Space-separated; the vendor's defaults when absent. */
  readonly scope?: string;
  readonly loginHint?: string;
  readonly prompt?: string;
  readonly resource?: string;
  /** Further parameters of the authorization request to the vendor. */
  readonly vendorParams?: Readonly<Record<string, string>>;
}

/** A flow under way: the URL for the browser, and what its user's session keeps until `finish`. */
export interface Started {
  /** The URL for the user's browser, as a redirect (303). */
  readonly url: string;
  /** For the session of this user only: see `Session`. */
  readonly session: Session;
}

/** Real tokens of the vendor, in plain text: the store must encrypt them. */
export interface Tokens {
  readonly accessToken: string;
  /** `Bearer`, or the vendor's own type. */
  readonly tokenType: string;
  /** Absent when the vendor gives no lifetime: then it is unknown, not infinite. */
  readonly expiresAt?: EpochSeconds;
  readonly refreshToken?: string;
  /** How long this refresh token lives. Absent when the vendor gives no lifetime: then it is unknown, not infinite. */
  readonly refreshTokenExpiresAt?: EpochSeconds;
  /** Space-separated, as granted. */
  readonly scope?: string;
  /** The vendor's id; `custom` in manual mode. */
  readonly vendor: string;
  /**
   * Opaque. Store it with the tokens: refresh, revoke and check need it to know which client they
   * belong to.
   */
  readonly connection: string;
  /**
   * Further members of the token response: `instance_url`, `realmId`, … A number beyond 2^53 is
   * a text with the vendor's digits.
   */
  readonly vendorData: JsonObject;
  /** The vendor's ID token, as a JWT that has passed every check. */
  readonly vendorIdToken?: string;
}

/** Which tokens: by their `connection`, or by the vendor's name if only that was stored. */
export type GrantTarget = VendorTarget & { readonly connection?: string };

/** Which tokens are to be refreshed. */
export type RefreshRequest = GrantTarget & {
  /** As in the tokens: without one the outcome is `reauthorize`, reason `no_refresh_token`. */
  readonly refreshToken: string | undefined;
  /** Narrower than granted. */
  readonly scope?: string;
};

/**
 * What a backend does next. `error` is what the broker or the vendor said: for a log, or for the
 * page that asks the user to connect again.
 */
export type Refreshed =
  /** Store these instead of the old tokens, the refresh token and the connection too. */
  | { readonly outcome: "ok"; readonly tokens: Tokens }
  /** The old tokens are still valid. */
  | {
      readonly outcome: "retry_later";
      readonly retryAfterSeconds: number;
      readonly reason: string;
      readonly error: BrokerClientError;
    }
  /**
   * The refresh token is dead: the user must authorize again, by a new `start()`. `error` is absent
   * if the tokens had no refresh token to send.
   */
  | { readonly outcome: "reauthorize"; readonly reason: string; readonly error?: BrokerClientError }
  /**
   * The user's grant may still be valid: the owner of the client credentials at the vendor has to
   * renew them.
   */
  | { readonly outcome: "credentials_rejected"; readonly source: string; readonly error: BrokerClientError };

/** Which token is to be revoked (RFC 7009). */
export type RevokeRequest = GrantTarget & {
  readonly token: string;
  readonly tokenTypeHint?: "access_token" | "refresh_token";
};

/** What became of the token at the vendor. */
export type Revoked =
  /**
   * `token`: it was live; `grant`: with all tokens of its grant; `already`: the vendor does not
   * know it.
   */
  | { readonly outcome: "revoked"; readonly revoked: "token" | "grant" | "already" }
  /** The vendor has no way to revoke it. `help`: what the user can do by hand. */
  | { readonly outcome: "unsupported"; readonly help: string; readonly error: BrokerClientError };

/** Which connection is checked. */
export type CheckRequest = VendorTarget & {
  readonly accessToken: string;
  /** As in the tokens: the token is sent only to hosts that it pins. */
  readonly connection: string;
  /** The scopes the backend needs, space-separated. */
  readonly scope?: string;
};

/** What the vendor says about an access token. What it does not say is absent, never guessed. */
export interface Checked {
  /**
   * `false`: the vendor no longer accepts the token; `null`: it has no way to ask. An outage is
   * thrown.
   */
  readonly active: boolean | null;
  /** How the vendor was asked. */
  readonly checkedBy: "introspection" | "userinfo" | "account" | "none";
  /** Space-separated, as granted. */
  readonly scope?: string;
  /** Those of the needed scopes that `scope` lacks, space-separated; absent if it lacks none. */
  readonly missingScope?: string;
  readonly expiresAt?: EpochSeconds;
  /** The user at the vendor; `issuer` is absent if the vendor has none. */
  readonly account?: { readonly issuer?: string; readonly subject: string };
}

/**
 * What a backend calls for its users' vendor tokens, whether the broker answers or the vendor
 * itself. It keeps nothing of a user: sessions and tokens are the caller's.
 */
export interface ConnectClient {
  /** @throws BrokerClientError */
  start(request: StartRequest): Promise<Started>;
  /**
   * Remove this session from the user's web session first, so that a reload of the callback finds
   * none.
   *
   * @param callbackUrl as the browser requested it, with its query; a path and query alone are
   *   enough
   * @param session of the requesting user, as `start` returned it; undefined when that user has
   *   none
   * @throws BrokerClientError; `temporarily_unavailable` without `retry`: the same call may be
   *   repeated within a minute
   */
  finish(callbackUrl: string | URL, session: unknown): Promise<Tokens>;
  /**
   * One call at a time per connection: with a vendor that rotates, the later of two concurrent
   * calls ends the user's grant.
   *
   * @throws BrokerClientError when the caller itself is wrong (`invalid_client`, `invalid_request`,
   *   `invalid_scope`, …)
   */
  refresh(request: RefreshRequest): Promise<Refreshed>;
  /** @throws BrokerClientError */
  revoke(request: RevokeRequest): Promise<Revoked>;
  /**
   * Whether the connection is still good, by the vendor's own way. Nothing is cached: each call is
   * one to the vendor.
   *
   * @throws BrokerClientError `temporarily_unavailable` when the vendor cannot be asked now;
   *   `invalid_request`, reason `client_mismatch` or `account_mismatch`, for a token that does not
   *   belong to the connection
   */
  check(request: CheckRequest): Promise<Checked>;
}
