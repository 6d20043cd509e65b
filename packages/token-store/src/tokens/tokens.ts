/** What the store keeps: one user's tokens at one vendor, and how it names them. */
import type { EpochSeconds, Secret } from "@oauth-broker/oauth-core";

/** Names a token record. `issuer` is what its tokens are bound to: a store asked for another issuer cannot open them. */
export interface TokenKey {
  /** The stable identity of the user, raw. Never an e-mail address or a login. */
  readonly user: string;
  readonly vendor: string;
  /** The vendor's issuer, or the host of its token endpoint where it has none. */
  readonly issuer: string;
}

/** Tokens as the vendor gave them. `Secret` so that printing, logging or serialising one shows nothing. */
export interface TokenSet {
  readonly accessToken: Secret;
  readonly refreshToken?: Secret;
  readonly idToken?: Secret;
  /** `Bearer` where the vendor named none. */
  readonly tokenType: string;
  /** Space-separated. */
  readonly scope?: string;
  /** Absent where the vendor gave no lifetime: the token is then used until the vendor refuses it. */
  readonly expiresAt?: EpochSeconds;
  /** JSON text of what else the vendor's answer held. */
  readonly vendorData?: Secret;
}

/**
 * - `active`: may be used and refreshed.
 * - `reauthorize`: the vendor ended the grant; only a new authorization by the user mends it.
 * - `revoked`: ended here; kept only until the vendor has been told.
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
