/**
 * What a mode owes to `/mcp`: a gate that says who calls a tool and with which vendor token, and
 * the routes beside it. pre-registered/ and hosted/ each make one, app.ts mounts it; nothing behind
 * these interfaces knows which one it has.
 */
import type { EpochSeconds, Secret } from "@oauth-broker/oauth-core";
import type { Route } from "@oauth-broker/oauth-core/service";

/** A vendor token as it is good for use now. */
export interface VendorToken {
  readonly accessToken: Secret;
  /**
   * The ID token that came with it, checked then; absent where none did, or it is not known here.
   */
  readonly idToken?: Secret;
  /** Names this very token to `refused`. */
  readonly version: number;
}

export interface Caller {
  /** Stable and globally unique at the vendor; never an e-mail address or a login. */
  readonly user: string;
  /**
   * What the bearer token permits; undefined where the vendor does not say: then its API has the
   * last word.
   */
  readonly scope: readonly string[] | undefined;
  /**
   * What the vendor token permits, which may be more: it is one for all of a user's sessions.
   * Undefined where the vendor does not say.
   */
  readonly vendorScope: readonly string[] | undefined;
  /** Of the bearer token. */
  readonly expiresAt: EpochSeconds;
  /** The client the bearer token was issued to, where that is known. */
  readonly clientId: string | undefined;
  /** @throws OAuthError temporarily_unavailable; invalid_grant where only the user can mend it */
  vendorToken(): Promise<VendorToken>;
  /**
   * The vendor answered this token with 401.
   *
   * @returns another to try, once; undefined where there is none: then the next request with this
   *   bearer token is a 401
   */
  refused(token: VendorToken): Promise<VendorToken | undefined>;
}

/** The check of the bearer token. */
export interface Gate {
  /**
   * @param bearer as presented, of any shape and length
   * @returns undefined for a token that is not good here, whatever the reason: the answer is 401
   *   `invalid_token`
   * @throws OAuthError temporarily_unavailable when nothing can be said now: 503, and nothing is
   *   lost
   */
  identify(bearer: string): Promise<Caller | undefined>;
}

export interface Mode {
  readonly gate: Gate;
  /** Open, without a bearer token. */
  readonly routes: readonly Route[];
  /**
   * Where the resource describes itself, for the challenge on `/mcp`; absent where nothing is
   * described.
   */
  readonly resourceMetadata: string | undefined;
  /**
   * Resolves when this mode has what it needs to serve: in hosted mode the store and the server
   * key.
   *
   * @throws OAuthError temporarily_unavailable
   */
  ready(): Promise<void>;
  /** What only the vendor's metadata tells and the operator should hear. Never rejects. */
  lateWarning(): Promise<string | undefined>;
}
