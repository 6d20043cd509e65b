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
  /** The vendor's issuer, or the host of its token endpoint if it has none. */
  readonly issuer: string;
  /**
   * With several vendors: the vendor of the identity `user`. Absent: this very vendor. Tokens
   * stored under another sign-in are those of another person, and are not found.
   */
  readonly signIn?: SignIn;
}

/** The vendor that signs users in: their identity is one there. */
export interface SignIn {
  readonly vendor: string;
  readonly issuer: string;
}

/** What is known of a linked account. Stored, sealed and carried over by a refresh like a token. */
export interface LinkDetails {
  /** The account's identity at the vendor; absent when the vendor names none. */
  readonly account?: string;
  /** The account as its user knows it. */
  readonly label?: Secret;
  readonly linkedAt: EpochSeconds;
  /** Requested of the user and not granted. */
  readonly notGranted: readonly string[];
  /**
   * Granted scopes that the vendor then refused for lack of, each with the link version at that
   * time.
   */
  readonly lacked: Readonly<Record<string, number>>;
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
  /** How long the refresh token lives. Absent when neither the vendor nor its entry says how long it lives. */
  readonly refreshExpiresAt?: EpochSeconds;
  /**
   * The client at the vendor that they were issued to: no other can refresh them. Absent in a row of
   * an earlier release, and of a server with one vendor if nothing is encrypted.
   */
  readonly clientId?: string;
  /** JSON text of the other members of the token response. */
  readonly vendorData?: Secret;
  /** Absent at a server with one vendor. */
  readonly link?: LinkDetails;
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
