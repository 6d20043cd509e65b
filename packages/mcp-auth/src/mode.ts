/**
 * What a mode provides to `/mcp`: `authenticate`, which finds the caller of a tool and the vendor token
 * to use, and further routes. pre-registered/ and hosted/ each implement it, app.ts mounts it; the
 * code behind these interfaces does not know the mode.
 */
import { defined, type EpochSeconds, OAuthError, type Secret } from "@oauth-broker/oauth-core";
import type { Route } from "@oauth-broker/service/http";

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

/** One user's tokens at one vendor, for the length of a call. */
export interface VendorTokenSource {
  /**
   * @throws OAuthError temporarily_unavailable; invalid_grant when the user must authorize again
   */
  vendorToken(): Promise<VendorToken>;
  /**
   * The vendor answered this token with 401.
   *
   * @returns another to try, once; undefined without another: then the next request with
   *   this bearer token is a 401, or with `VENDORS` the link is dead
   */
  refused(token: VendorToken): Promise<VendorToken | undefined>;
}

/** A user's account at one vendor, as a call finds it. */
export type UserLink =
  | {
      /** Never linked, or disconnected. */
      readonly state: "missing";
    }
  | {
      /** The vendor has ended the grant. */
      readonly state: "dead";
      /** What it had, so that the user is asked for all of it again; undefined: not known. */
      readonly scope: readonly string[] | undefined;
    }
  | (VendorTokenSource & {
      readonly state: "usable";
      /** As granted; undefined when the vendor does not report it. */
      readonly scope: readonly string[] | undefined;
      /** Requested of the user before and not granted: asked for again only on a reconnect. */
      readonly notGranted: readonly string[];
      /**
       * The vendor's 403 names a scope that the link has.
       *
       * @returns false when that happened before at this link: the scope then counts as not granted
       */
      lacks(scope: string): Promise<boolean>;
    });

/** What the user is asked in the browser. */
export interface LinkRequest {
  readonly vendor: string;
  /** The vendor's own scope tokens, those that the link has included. */
  readonly scopes: readonly string[];
}

/** A page of this server that waits for the user. */
export interface Ticket {
  /** Names the ticket in `requestState`; opens nothing. */
  readonly id: string;
  /** `DEPLOYMENT_URL/connect/<ticket>`. */
  readonly url: string;
  readonly expiresAt: EpochSeconds;
}

/**
 * `open`: the user has not decided. `approved`: the browser is at the vendor. `linked`, `denied`:
 * decided. `gone`: expired, cancelled, unknown, or another user's.
 */
export type TicketState = "open" | "approved" | "linked" | "denied" | "gone";

/** The links of the calling user. All methods throw OAuthError temporarily_unavailable. */
export interface CallerLinks {
  /** What the session permits at a vendor, as that vendor's scope tokens. */
  sessionScope(vendor: string): readonly string[];
  /** Refreshed first when it is near its end. */
  read(vendor: string): Promise<UserLink>;
  /** The same question gets the ticket that is open for it, with the same URL. */
  ask(question: LinkRequest): Promise<Ticket>;
  ticketState(id: string): Promise<TicketState>;
  /** The client declined or cancelled on the user's behalf: the URL opens nothing any more. */
  cancel(id: string): Promise<void>;
}

export interface Caller extends VendorTokenSource {
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
  /** The end of the bearer token. */
  readonly expiresAt: EpochSeconds;
  /** The client the bearer token was issued to, if that is known. */
  readonly clientId: string | undefined;
  /** The user's links, with `VENDORS`. `vendorToken` and `refused` are then not called. */
  readonly links?: CallerLinks;
}

/**
 * The check of the bearer token: hosted/authenticate.ts and pre-registered/authenticate.ts.
 *
 * @param bearer as presented, of any format and length
 * @returns undefined for a token that is not valid here, for any reason: the response is 401
 *   `invalid_token`
 * @throws OAuthError when it cannot be decided now: 503 (`toOutage`), and the token stays valid
 */
export type Authenticate = (bearer: string) => Promise<Caller | undefined>;

const OUR_OWN: readonly string[] = ["temporarily_unavailable", "slow_down", "server_error"];

/**
 * A vendor that refuses our client, or responds wrongly, is not the fault of the caller: nothing is
 * decided about a token or a link.
 *
 * @param error its code is the `reason` of the outage; an outage, and a bug, is returned unchanged
 */
export function toOutage(error: unknown, description: string): unknown {
  if (!(error instanceof OAuthError) || OUR_OWN.includes(error.code)) return error;
  const { reason = error.code, vendorError } = error.extras;
  return new OAuthError("temporarily_unavailable", description, { reason, cause: error, ...defined({ vendorError }) });
}

/** Keys of this server for values that a client holds and sends back. */
export interface Seals {
  /** @throws OAuthError temporarily_unavailable */
  derive(purpose: "request-state" | "mcp-session"): Promise<Buffer>;
}

export interface Mode {
  readonly authenticate: Authenticate;
  /** In hosted mode. */
  readonly seals?: Seals;
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
  /** Ends what runs without a request. May be called twice. */
  close(): Promise<void>;
}
