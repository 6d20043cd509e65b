/**
 * A vendor as data: where its endpoints are and in which ways it departs from the standard.
 * `Vendor` is what an entry says; `ResolvedVendor` is an entry whose endpoints are known (discovered, expanded).
 */
import type { JsonObject } from "../ports.ts";
import type { Secret } from "../protocol/secret.ts";

export type PkceMethod = "S256" | "plain" | "none";
export type TokenEndpointAuthMethod = "client_secret_basic" | "client_secret_post" | "none";

/** How a vendor ends a token where that is not rfc7009. */
export interface RevocationDialect {
  readonly method: "POST" | "DELETE";
  /** `basic`: our id and secret; `bearer`: the token that is to end. */
  readonly authentication: "basic" | "bearer" | "none";
  /** Where the token stands, under `tokenParameter`; `none`: only in the header. */
  readonly body: "form" | "json" | "none";
  readonly tokenParameter: string;
  /** `grant`: all tokens of this user and client end with it. */
  readonly ends: "token" | "grant";
  /** Statuses of an answer that means: not known, or no longer. */
  readonly goneStatuses: readonly number[];
}

export interface Vendor {
  /** Lower case letters, digits and `-`. */
  readonly id: string;
  readonly name: string;
  /** The vendor's issuer, compared byte for byte. Endpoints that are absent below are discovered from it. */
  readonly issuer?: string;
  readonly authorizationEndpoint?: string;
  readonly tokenEndpoint?: string;
  /** Where refresh requests go when that is not the token endpoint. */
  readonly refreshEndpoint?: string;
  /** With `revocation`, `{client_id}` in it stands for ours. */
  readonly revocationEndpoint?: string;
  readonly revocation?: RevocationDialect;
  readonly registrationEndpoint?: string;
  readonly jwksUri?: string;
  readonly userinfoEndpoint?: string;
  readonly pkce: PkceMethod;
  readonly scopeSeparator: string;
  readonly defaultScopes: readonly string[];
  /** Fixed parameters of every authorization request. */
  readonly authorizationParams: Readonly<Record<string, string>>;
  /** Lifetime of the vendor's codes, when it is known. */
  readonly authorizationCodeLifetimeSeconds?: number;
  /** `callback`: codes die too fast to be parked, so the tokens are (design: Parking). */
  readonly redeemAt: "token" | "callback";
  readonly tokenEndpointAuthMethod: TokenEndpointAuthMethod;
  readonly tokenRequestBody: "form" | "json";
  /** The member of the token answer that holds the token set, where that is not the answer itself. */
  readonly tokenResponseMember?: string;
  /** The callback must carry `iss`. Unset: required when the vendor's metadata advertises it. */
  readonly issRequired?: boolean;
  readonly idTokenAlgs: readonly string[];
  /** Whether a refresh replaces the refresh token, where that is known. */
  readonly rotatesRefreshTokens?: boolean;
  /** Further callback parameters handed on in `vendor_data`. */
  readonly callbackParams: readonly string[];
  readonly enabled: boolean;
  /** `false`: no new flows; refresh and revoke go on. */
  readonly acceptsNewAuthorizations: boolean;
}

/** Endpoints of one vendor as they are used in a flow, after discovery. */
export interface ResolvedVendor extends Vendor {
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  /** Metadata advertises `authorization_response_iss_parameter_supported`, or the entry says `issRequired`. */
  readonly issExpected: boolean;
}

/** One vendor client: what we are registered as at the vendor. */
export interface VendorCredentials {
  /** Names the entry in the operator's list, for logs and the sealed `connection`. */
  readonly id: string;
  readonly source: "shared" | "byoc" | "environment";
  readonly clientId: string;
  /** Absent for a public client. */
  readonly clientSecret?: Secret;
}

/** A vendor's token answer after normalising: one shape, whatever the vendor calls things. */
export interface VendorTokens {
  readonly accessToken: string;
  /** `Bearer` unless the vendor names another type of its own that is not a spelling of bearer. */
  readonly tokenType: string;
  /** Present only when the vendor gave a usable, positive lifetime. */
  readonly expiresInSeconds?: number;
  readonly refreshToken?: string;
  readonly scope?: readonly string[];
  /** Present only when signature and claims passed every check. */
  readonly idToken?: { readonly raw: string; readonly issuer: string; readonly subject: string };
  /** Every other member of the answer. */
  readonly vendorData: JsonObject;
}

/** `Ed25519` is RFC 9864's name for `EdDSA` with that curve. */
export const DEFAULT_ID_TOKEN_ALGS: readonly string[] = ["RS256", "ES256", "PS256", "EdDSA", "Ed25519"];

/** Fills an entry's defaults: S256, space-separated scopes, Basic, form bodies, enabled. */
export function defineVendor(entry: Partial<Vendor> & Pick<Vendor, "id" | "name">): Vendor {
  return {
    pkce: "S256",
    scopeSeparator: " ",
    defaultScopes: [],
    authorizationParams: {},
    redeemAt: "token",
    tokenEndpointAuthMethod: "client_secret_basic",
    tokenRequestBody: "form",
    idTokenAlgs: DEFAULT_ID_TOKEN_ALGS,
    callbackParams: [],
    enabled: true,
    acceptsNewAuthorizations: true,
    ...entry,
  };
}
