/**
 * What a mode provides to `/mcp`: a gate that identifies the caller of a tool and the vendor token
 * to use, and further routes. pre-registered/ and hosted/ each implement it, app.ts mounts it; the
 * code behind these interfaces does not know the mode.
 */
import type { EpochSeconds, Secret } from "@oauth-broker/oauth-core";
import type { Route } from "@oauth-broker/oauth-core/service";

/** A vendor token that is valid now. */
export interface VendorToken {
  readonly accessToken: Secret;
  /**
   * The ID token issued with it, checked then; absent when there was none, or it is not known here.
   */
  readonly idToken?: Secret;
  /** Identifies this very token to `refused`. */
  readonly version: number;
}

export interface Caller {
  /** Stable and globally unique at the vendor; never an e-mail address or a login. */
  readonly user: string;
  /**
   * What the bearer token permits; undefined when the vendor does not report it: then its API
   * decides.
   */
  readonly scope: readonly string[] | undefined;
  /**
   * What the vendor token permits, which may be more: all of a user's sessions share it. Undefined
   * when the vendor does not report it.
   */
  readonly vendorScope: readonly string[] | undefined;
  /** Of the bearer token. */
  readonly expiresAt: EpochSeconds;
  /** The client the bearer token was issued to, where that is known. */
  readonly clientId: string | undefined;
  /**
   * @throws OAuthError temporarily_unavailable; invalid_grant when the user must authorize again
   */
  vendorToken(): Promise<VendorToken>;
  /**
   * The vendor answered this token with 401.
   *
   * @returns another to try, once; undefined when there is no other: then the next request with
   *   this bearer token is a 401
   */
  refused(token: VendorToken): Promise<VendorToken | undefined>;
}

/** The check of the bearer token. */
export interface Gate {
  /**
   * @param bearer as presented, of any format and length
   * @returns undefined for a token that is not valid here, for any reason: the response is 401
   *   `invalid_token`
   * @throws OAuthError temporarily_unavailable when it cannot be decided now: 503, and the token
   *   stays valid
   */
  identify(bearer: string): Promise<Caller | undefined>;
}

export interface Mode {
  readonly gate: Gate;
  /** Routes without a bearer token. */
  readonly routes: readonly Route[];
  /**
   * The URL of the resource's metadata, for the challenge on `/mcp`; absent when none is published.
   */
  readonly resourceMetadata: string | undefined;
  /**
   * Resolves when this mode has everything it needs to serve: in hosted mode the store and the
   * server key.
   *
   * @throws OAuthError temporarily_unavailable
   */
  ready(): Promise<void>;
  /** A warning for the operator that only the vendor's metadata can trigger. Never rejects. */
  lateWarning(): Promise<string | undefined>;
}
