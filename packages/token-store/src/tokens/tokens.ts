/** What the store keeps: one user's tokens at one vendor, and their key. */
import type { EpochSeconds, Secret } from "@oauth-broker/oauth-core";

/**
 * Names a token record. `issuer` is what its tokens are bound to: a store asked for another issuer
 * cannot open them.
 */
export interface TokenKey {
  /** The stable identity of the user, unhashed. Never an e-mail address or a login. */
  readonly user: string;
  readonly vendor: string;
  /** The vendor's issuer, or the host of its token endpoint where it has none. */
  readonly issuer: string;
}

/**
 * Tokens as the vendor issued them. `Secret`, so that printing, logging or serialising one reveals
 * nothing.
 */
export interface TokenSet {
  readonly accessToken: Secret;
  readonly refreshToken?: Secret;
  readonly idToken?: Secret;
  /** `Bearer` when the vendor named none. */
  readonly tokenType: string;
  /** Space-separated. */
  readonly scope?: string;
  /**
   * Absent when the vendor gave no lifetime: the token is then used until the vendor refuses it.
   */
  readonly expiresAt?: EpochSeconds;
  /** JSON text of the other members of the vendor's response. */
  readonly vendorData?: Secret;
}

/**
 * - `active`: may be used and refreshed.
 * - `reauthorize`: the vendor ended the grant; the user must authorize again.
 * - `revoked`: ended here; kept only until it is revoked at the vendor.
 */
export type TokenStatus = "active" | "reauthorize" | "revoked";

/** One user's tokens at one vendor, as the record holds them. */
export interface StoredTokens {
  readonly tokens: TokenSet;
  readonly status: TokenStatus;
  /** Grows by one with every set of tokens committed to the record. */
  readonly version: number;
  /** When these tokens were written. */
  readonly writtenAt: EpochSeconds;
}
